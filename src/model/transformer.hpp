// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <dlnb/model.hpp>

namespace dlnb {

/// Sizes beyond these are typing errors, not models; they also keep every product of sizes inside 64 bits
/// together with the check in `build`.
namespace largest {
inline constexpr double layers = 1e5;
inline constexpr double hidden = 1e7;
inline constexpr double heads = 1e6;
inline constexpr double feed_forward = 1e8;
inline constexpr double vocabulary = 1e9;
inline constexpr double sequence = 1e9;
inline constexpr double experts = 1e6;
inline constexpr double image = 1e6;
}  // namespace largest

/// What the words of a file are, so that an error names the key its reader wrote.
struct Keys {
  std::string_view layers = "layers";
  std::string_view hidden = "hidden";
  std::string_view heads = "heads";
  std::string_view kv_heads = "kv_heads";
  std::string_view feed_forward = "feed_forward";
  std::string_view vocabulary = "vocabulary";
  std::string_view sequence = "sequence";
  std::string_view experts = "experts";
  std::string_view experts_active = "experts_active";
  std::string_view image = "image";
  std::string_view patch = "patch";
};

/// Everything that decides which tensors a transformer has. Zero: absent, or follows from the others as said.
struct Transformer {
  std::string name;
  std::string summary;
  std::string source;
  std::string family;
  Keys keys;

  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;   ///< 0: as many as heads
  std::int64_t head_size = 0;  ///< 0: hidden / heads
  std::int64_t feed_forward = 0;
  std::int64_t vocabulary = 0;  ///< 0: no tokens (images)
  std::int64_t sequence = 0;    ///< images: follows from image and patch
  std::int64_t window = 0;

  bool layer_norm = false;  ///< weight and bias (LayerNorm) instead of weight only (RMSNorm)
  bool gated = true;
  bool causal = true;
  bool fused_qkv = false;  ///< q, k and v are one tensor
  bool qkv_bias = false;
  bool output_bias = false;
  bool mlp_bias = false;
  bool head_norms = false;         ///< one norm of head_size for all query heads, one for all key heads
  bool learned_positions = false;  ///< a table of `sequence` rows
  bool tied_head = false;          ///< the LM head is the embedding's tensor

  std::int64_t experts = 1;
  std::int64_t experts_active = 1;
  std::int64_t expert_feed_forward = 0;  ///< 0: feed_forward
  std::int64_t shared_feed_forward = 0;  ///< of the experts every token visits, together
  bool shared_gate = false;
  std::int64_t dense_layers = 0;   ///< that many first layers have no experts
  std::vector<bool> expert_layer;  ///< per layer, where only some have experts; empty: all

  // Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1); head_size is the content part +
  // rope.
  std::int64_t query_rank = 0;  ///< 0: queries are not compressed
  std::int64_t kv_rank = 0;     ///< 0: ordinary attention
  std::int64_t rope_size = 0;
  std::int64_t value_size = 0;

  std::int64_t image = 0;  ///< pixels per side
  std::int64_t patch = 0;
  std::int64_t channels = 3;
  std::int64_t classes = 0;  ///< a classifier of that many; 0: none
  bool pooler = false;
};

/// The model with every tensor. Throws UserError at `file` where sizes are missing, do not divide or
/// overflow.
Model build(const Transformer& transformer, const std::string& file);

}  // namespace dlnb
