// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <dlnb/units.hpp>

namespace dlnb {

/// How tensor parallelism cuts a tensor.
enum class Cut : std::uint8_t {
  none,     ///< replicated (norms, biases of row-cut layers, routers)
  rows,     ///< dimension 0, the output features: "column parallel" (q, k, v, gate, up, embedding, head)
  columns,  ///< dimension 1, the input features: "row parallel" (attention output, down)
};

/// One trainable parameter tensor, in the framework's (output, input) order; vectors have columns = 1.
struct Tensor {
  std::string name;
  std::int64_t rows = 0;
  std::int64_t columns = 1;
  Cut cut = Cut::none;
  bool expert = false;      ///< belongs to one expert of a mixture
  std::int64_t copies = 1;  ///< that many equal tensors follow each other (one per expert)

  std::int64_t elements() const { return rows * columns * copies; }
};

enum class PartKind : std::uint8_t { embedding, attention, mlp, norm, head, convolution };

/// "embedding", "attention", "mlp", …
const char* name_of(PartKind kind);

/// A piece of the model between two points where parallel plans may communicate, in forward order.
/// A transformer is embedding, then attention and mlp per layer, then norm and head.
/// The norm in front of attention or mlp belongs to that part and is registered first in it.
struct Part {
  PartKind kind = PartKind::mlp;
  int layer = -1;               ///< 0-based; -1 outside the layers
  std::vector<Tensor> tensors;  ///< in registration order; empty where the part has none (tied head)
  // Explicit layer lists (CNN) state these per sample; transformers leave them 0 and follow from Architecture.
  double forward_flops = 0;
  std::int64_t output_elements = 0;
  std::int64_t activation_elements = 0;  ///< read and written by its layers

  std::int64_t elements() const;
};

/// What a transformer is; zero where it does not apply (CNN layer lists).
struct Architecture {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_size = 0;
  std::int64_t feed_forward = 0;
  std::int64_t vocabulary = 0;
  std::int64_t sequence = 0;  ///< tokens per sample
  std::int64_t experts = 1;
  std::int64_t experts_active = 1;
  bool gated = false;  ///< gate, up and down instead of up and down
  bool causal = false;
  std::int64_t value_head_size = 0;  ///< of v; differs from head_size (q, k) in latent attention
  std::int64_t window = 0;           ///< tokens a causal query looks back at most; 0: all
};

struct Model {
  std::string name;
  std::string source;  ///< citation
  std::string sample;  ///< "image" or "sequence"
  std::string summary;
  Architecture architecture;
  std::vector<Part> parts;  ///< forward order = registration order

  std::int64_t parameters() const;
  std::int64_t expert_parameters() const;
  std::int64_t tensors() const;
  bool is_transformer() const { return architecture.hidden > 0; }
};

}  // namespace dlnb
