// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <dlnb/options.hpp>
#include <dlnb/registry.hpp>
#include <dlnb/spec.hpp>

#include "schedule/draft.hpp"

namespace dlnb {

/// One pass as a plan uses it.
struct PassUse {
  std::string path;   ///< "plan.tensor", for messages
  std::string where;  ///< "runs/moe.toml:14" or "--plan"
  std::int64_t degree = 1;
  int axis = 0;   ///< its place in the grid
  Value options;  ///< the table without the degree
  Flavour flavour = Flavour::paper;
};

/// One dimension of parallelism: rewrites the draft along one axis of the grid. One file each in passes/.
/// A pass acts at up to four moments, each in the order of `place`.
struct Pass {
  std::string_view name;
  std::string_view summary;
  std::string_view degree_name;     ///< "degree", "stages"
  int place;                        ///< of its axis in the grid, fastest first, and of its turn
  bool (*brings_samples)(Flavour);  ///< whether ranks along it count as replicas with samples of their own
  std::vector<OptionInfo> (*options)(Flavour);
  std::int64_t (*microbatches)(const PassUse&) = nullptr;  ///< how many the batch is cut into
  void (*divide)(Draft&,
                 const PassUse&) = nullptr;  ///< what one rank holds and computes: Draft::works, tokens
  void (*inside)(Draft&, const PassUse&) = nullptr;  ///< communication inside the layers of one micro-batch
  void (*arrange)(Draft&,
                  const PassUse&) = nullptr;  ///< micro-batches and stages in order: fills Draft::roles
  void (*around)(Draft&, const PassUse&) = nullptr;  ///< over the finished list of every role
};
namespace passes {
Registry<Pass> all();
}

}  // namespace dlnb
