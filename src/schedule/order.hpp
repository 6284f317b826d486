// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <dlnb/registry.hpp>

namespace dlnb {

/// What a pipeline rank does next. `stage` counts virtual stages over the whole pipeline;
/// stage s runs on rank s mod ranks.
struct PipelineAction {
  enum class Kind : std::uint8_t { forward, backward, send, recv, settle };
  Kind kind;
  int stage = 0;  ///< whose pass it is; of a message: the stage on this rank
  int microbatch = 0;
  bool backward = false;  ///< messages: a gradient, not an activation
  bool blocking = true;   ///< messages
};

struct Pipeline {
  int ranks = 1;
  int chunks = 1;  ///< virtual stages per rank
  int microbatches = 1;
  bool framework = false;  ///< sends as the framework issues them, without blocking

  int stages() const { return ranks * chunks; }
};

/// An order of micro-batches. One file each in orders/.
/// `settle` waits for every outstanding message.
struct PipelineOrder {
  std::string_view name;
  std::string_view summary;
  bool takes_chunks;  ///< more than one virtual stage per rank
  std::vector<std::vector<PipelineAction>> (*actions)(const Pipeline&);
};
namespace orders {
Registry<PipelineOrder> all();
}

}  // namespace dlnb
