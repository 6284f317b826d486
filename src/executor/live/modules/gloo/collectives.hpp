// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/context.h>

#include <cstdint>
#include <memory>

#include "executor/live/modules/gloo/reduce_scatter.hpp"
#include "executor/live/transport.hpp"

namespace dlnb::over_gloo {

enum class AllReduceAlgorithm : std::uint8_t { ring, bcube };
/// What DLNETBENCH_GLOO_ALL_REDUCE says; ring, gloo's own choice, where it says nothing.
AllReduceAlgorithm all_reduce_algorithm();
const char* name_of(AllReduceAlgorithm algorithm);

/// Carries out the collectives of one communicator, one after the other. gloo's calls block until the caller's part is
/// done.
class Collectives {
 public:
  /// `context` is null where the communicator has one member.
  Collectives(std::shared_ptr<::gloo::Context> context, AllReduceAlgorithm algorithm)
      : context_(std::move(context)), algorithm_(algorithm) {}

  void run(const Transfer& transfer);

 private:
  const std::shared_ptr<::gloo::Context> context_;
  const AllReduceAlgorithm algorithm_;
  ReduceScatter reduce_scatter_;
  std::uint32_t number_ = 0;  // of the next collective, alike at all members: gloo's tag
};

}  // namespace dlnb::over_gloo
