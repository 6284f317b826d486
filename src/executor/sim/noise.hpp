// SPDX-License-Identifier: Apache-2.0
// What disturbs a simulated job: time taken from its ranks, and collectives that take longer than links explain. Kinds
// are the files of noises/. Formulas, sources and limits: docs/models/simulator.md, "Noise".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <dlnb/document.hpp>
#include <dlnb/options.hpp>
#include <dlnb/registry.hpp>

namespace dlnb::sim {

/// A number in (0, 1) for the `count`-th draw of a stream. Whatever else happens in a simulation, and in which order,
/// the same seed, stream and count give the same number. Its bits are those of SplitMix64 (Steele, Lea, Flood, "Fast
/// splittable pseudorandom number generators", OOPSLA 2014), keyed by seed and stream.
double draw(std::uint64_t seed, std::uint64_t stream, std::uint64_t count);
/// Mixes two numbers into one, to make streams of.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b);

/// Where a rank is in its noise.
struct RankState {
  std::uint64_t stream = 0;
  std::uint64_t drawn = 0;
  double begin = 0, end = 0;  ///< s: the interruption that is next or in progress
  double arrival = 0;         ///< s: of the one behind it
  double stretch = 0;         ///< of the compute phase in progress: it takes 1 + stretch times as long …
  double delay = 0;           ///< s: … and begins so much later
};

/// Takes time from ranks. Times are seconds of the simulation; a rank's are asked for in ascending order.
class RankNoise {
 public:
  virtual ~RankNoise() = default;
  /// The ranks of a node are disturbed at the same times; else each in its own.
  virtual bool is_of_nodes() const { return false; }
  /// Whoever does not compute is not disturbed.
  virtual bool is_of_compute() const { return false; }
  virtual void start(RankState&) const {}
  /// A compute phase begins.
  virtual void begin(RankState&, std::int64_t /*iteration*/) const {}
  /// When a phase that begins at `start` and needs `work` seconds of its rank is done.
  virtual double done(RankState&, double start, double work) const = 0;
  /// Seconds of such a phase that are done between `start` and `until`; it goes on from there.
  virtual double worked(RankState&, double start, double until) const = 0;
  /// The first time from `at` on at which the rank can do something: issue an operation, notice that one is over.
  virtual double free(RankState&, double at) const { return at; }
};

/// A collective whose data has just moved.
struct Moved {
  std::int64_t number = 0;  ///< of all operations of its communicator
  int nodes = 1;            ///< that its ranks are on
  double began = 0;         ///< s: when its last member had arrived
  double took = 0;          ///< s: since then
};

/// Where a communicator is in its noise.
struct CollectiveState {
  std::uint64_t stream = 0;
  double until = -1;  ///< s: the end of what disturbs it
};

/// Makes collectives take longer.
class CollectiveNoise {
 public:
  virtual ~CollectiveNoise() = default;
  /// Seconds that it goes on for, without moving anything.
  virtual double longer(CollectiveState&, const Moved&) const = 0;
};

/// What one noise does; one of them, or neither.
struct Noise {
  std::unique_ptr<const RankNoise> ranks;
  std::unique_ptr<const CollectiveNoise> collectives;
};

/// All that disturbs a job.
struct Disturbance {
  Noise noise;
  double overlap_slowdown = 1;  ///< compute takes so many times as long while its rank communicates
  std::string text;             ///< for people; empty: nothing
  bool is_none() const { return !noise.ranks && !noise.collectives && overlap_slowdown == 1; }
};
/// `noise` as in RunSpec. Throws UserError.
Disturbance make_disturbance(const Value& noise, std::int64_t seed);

}  // namespace dlnb::sim

namespace dlnb {

/// A kind of noise. One file each in noises/.
struct NoiseKind {
  std::string_view name;
  std::string_view summary;
  /// What describes one, with defaults.
  std::vector<OptionInfo> (*options)();
  /// Of a table without its `kind`. Throws UserError.
  sim::Noise (*make)(const Value& table, std::uint64_t seed);
};
namespace noises {
Registry<NoiseKind> all();
}

}  // namespace dlnb
