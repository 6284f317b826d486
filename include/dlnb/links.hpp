// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <dlnb/machine.hpp>
#include <dlnb/schedule.hpp>

namespace dlnb {

/// How much of the capacity of a class of links was taken, from the begin of a simulation to its end, warm-up and protocol
/// overhead included.
struct LinkClassLoad {
  LinkClass link_class = LinkClass::node;
  std::int64_t links = 0;  ///< both directions of every cable
  std::int64_t used = 0;   ///< of these, that anything was sent over
  double mean = 0;         ///< part of its capacity, over the used ones
  double most = 0;
};

/// One of the links that most was taken of.
struct HotLink {
  LinkIndex link = 0;
  LinkClass link_class = LinkClass::node;
  double utilisation = 0;      ///< part of its capacity
  double full = 0;             ///< seconds in which it limited who shared it
  std::vector<double> by_job;  ///< of `utilisation`
};

/// What kept operations of a job from the rate they have alone.
struct Slowing {
  int by = 0;  ///< the job that took most of the full link beside it; itself: its own other operations
  LinkIndex link = 0;
  LinkClass link_class = LinkClass::node;
  OperationKind kind = OperationKind::all_reduce;
  Phase phase = Phase::forward;
  double lost = 0;  ///< seconds of data moving that it would not have taken alone, summed over communicators
};

/// The links of a simulation as one of its jobs saw them.
struct LinkReport {
  double span = 0;                     ///< simulated seconds
  std::vector<LinkClassLoad> classes;  ///< that are used
  std::vector<HotLink> hot;            ///< most utilised first
  std::vector<Slowing> slowed;         ///< most lost first
  double lost = 0;                     ///< of all that slowed it, seconds
};

}  // namespace dlnb
