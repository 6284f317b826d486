// SPDX-License-Identifier: Apache-2.0
#include "model/transformer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <dlnb/error.hpp>

namespace dlnb {
namespace {

std::string at(const std::string& file, std::string_view key) { return fmt::format("{} {}", file, key); }

void require_present(std::int64_t size, const std::string& file, std::string_view key, const char* what) {
  if (size == 0) throw UserError(at(file, key), "is missing", fmt::format("expected {}", what));
}

// Fills what follows from other sizes and checks that sizes go together.
Transformer completed(Transformer t, const std::string& file) {
  const Keys& keys = t.keys;
  require_present(t.layers, file, keys.layers, "the number of layers, at least 1");
  require_present(t.hidden, file, keys.hidden, "the hidden size, at least 1");
  require_present(t.heads, file, keys.heads, "the number of attention heads, at least 1");
  require_present(t.feed_forward, file, keys.feed_forward, "the feed-forward size, at least 1");

  if (t.kv_heads == 0) t.kv_heads = t.heads;
  if (t.heads % t.kv_heads != 0)
    throw UserError(
        at(file, keys.kv_heads),
        fmt::format("{} attention heads cannot share {} key-value heads evenly", t.heads, t.kv_heads),
        fmt::format("expected a divisor of {}", t.heads));
  if (t.head_size == 0) {
    if (t.hidden % t.heads != 0)
      throw UserError(at(file, keys.heads),
                      fmt::format("a hidden size of {} does not divide into {} heads", t.hidden, t.heads),
                      fmt::format("expected a divisor of {}, or the size of a head", t.hidden));
    t.head_size = t.hidden / t.heads;
  }
  if (t.kv_rank == 0) t.value_size = t.head_size;

  if (t.experts == 1 && (t.expert_feed_forward > 0 || t.shared_feed_forward > 0 || t.dense_layers > 0))
    throw UserError(at(file, keys.experts), "is missing where sizes of experts are given",
                    "expected at least 2");
  if (t.expert_feed_forward == 0) t.expert_feed_forward = t.feed_forward;
  if (t.experts_active > t.experts)
    throw UserError(at(file, keys.experts_active),
                    fmt::format("{} of {} experts cannot be active", t.experts_active, t.experts),
                    fmt::format("expected at most {}", t.experts));

  if (t.image > 0 || t.patch > 0) {
    require_present(t.image, file, keys.image, "the side of an image in pixels");
    require_present(t.patch, file, keys.patch, "the side of a patch in pixels");
    if (t.image % t.patch != 0)
      throw UserError(
          at(file, keys.patch),
          fmt::format("an image of {} pixels does not divide into patches of {}", t.image, t.patch),
          fmt::format("expected a divisor of {}", t.image));
    if (t.causal || t.vocabulary > 0)
      throw UserError(at(file, keys.image), "has no meaning in a model of words", "use family = \"vit\"");
    const std::int64_t side = t.image / t.patch;
    const std::int64_t tokens = side * side + 1;  // one per patch and the class token
    if (t.sequence > 0 && t.sequence != tokens)
      throw UserError(at(file, keys.sequence),
                      fmt::format("is {} where the image has {}", t.sequence, tokens), "leave it out");
    t.sequence = tokens;
  } else {
    require_present(t.vocabulary, file, keys.vocabulary, "the number of tokens in the vocabulary");
    require_present(t.sequence, file, keys.sequence, "the number of tokens per sample");
  }
  return t;
}

// Collects tensors and refuses a model whose size does not fit into 64 bits.
class Builder {
 public:
  Builder(const Transformer& transformer, const std::string& file) : t_(transformer), file_(file) {}

  Model model() {
    Model model;
    model.name = t_.name;
    model.summary = t_.summary;
    model.source = t_.source;
    model.sample = t_.image > 0 ? "image" : "sequence";
    model.architecture = architecture();
    model.parts.reserve(std::size_t(2 * t_.layers + 3));
    model.parts.push_back(embedding());
    for (int layer = 0; layer < t_.layers; ++layer) {
      model.parts.push_back(attention(layer));
      model.parts.push_back(mlp(layer));
    }
    Part last{.kind = PartKind::norm};
    norm(last, "norm", t_.hidden);
    model.parts.push_back(std::move(last));
    model.parts.push_back(head());
    return model;
  }

 private:
  Architecture architecture() const {
    return {.layers = t_.layers,
            .hidden = t_.hidden,
            .heads = t_.heads,
            .kv_heads = t_.kv_heads,
            .head_size = t_.head_size,
            .feed_forward = t_.experts > 1 ? t_.expert_feed_forward : t_.feed_forward,
            .vocabulary = t_.vocabulary,
            .sequence = t_.sequence,
            .experts = t_.experts,
            .experts_active = t_.experts_active,
            .gated = t_.gated,
            .causal = t_.causal,
            .value_head_size = t_.value_size,
            .window = t_.window};
  }

  void add(Part& part, Tensor tensor) {
    const double elements = double(tensor.rows) * double(tensor.columns) * double(tensor.copies);
    total_ += elements;
    if (total_ > 1e18)  // an int64 holds 9.2e18
      throw UserError(file_, "the model has more than 1e18 parameters",
                      "check the sizes for a slipped digit");
    part.tensors.push_back(std::move(tensor));
  }

  void norm(Part& part, const std::string& name, std::int64_t size) {
    add(part, {.name = name + ".weight", .rows = size});
    if (t_.layer_norm) add(part, {.name = name + ".bias", .rows = size});
  }

  // A bias adds to output features: cut with the rows, whole where the columns are cut.
  void linear(Part& part, const std::string& name, std::int64_t out, std::int64_t in, Cut cut, bool bias) {
    add(part, {.name = name + ".weight", .rows = out, .columns = in, .cut = cut});
    if (bias)
      add(part, {.name = name + ".bias", .rows = out, .cut = cut == Cut::rows ? Cut::rows : Cut::none});
  }

  Part embedding() {
    Part part{.kind = PartKind::embedding};
    if (t_.image > 0) {
      add(part, {.name = "class", .rows = t_.hidden});
      add(part, {.name = "position.weight", .rows = t_.sequence, .columns = t_.hidden});
      linear(part, "patch", t_.hidden, t_.channels * t_.patch * t_.patch, Cut::none, true);
      return part;
    }
    add(part, {.name = "token.weight", .rows = t_.vocabulary, .columns = t_.hidden, .cut = Cut::rows});
    if (t_.learned_positions)
      add(part, {.name = "position.weight", .rows = t_.sequence, .columns = t_.hidden});
    return part;
  }

  Part attention(int layer) {
    Part part{.kind = PartKind::attention, .layer = layer};
    norm(part, "norm", t_.hidden);
    if (t_.kv_rank > 0) {
      latent_projections(part);
    } else {
      const std::int64_t query = t_.heads * t_.head_size;
      const std::int64_t key = t_.kv_heads * t_.head_size;
      if (t_.fused_qkv) {
        linear(part, "qkv", query + 2 * key, t_.hidden, Cut::rows, t_.qkv_bias);
      } else {
        linear(part, "q", query, t_.hidden, Cut::rows, t_.qkv_bias);
        linear(part, "k", key, t_.hidden, Cut::rows, t_.qkv_bias);
        linear(part, "v", key, t_.hidden, Cut::rows, t_.qkv_bias);
      }
    }
    linear(part, "o", t_.hidden, t_.heads * t_.value_size, Cut::columns, t_.output_bias);
    if (t_.head_norms) {
      norm(part, "q_norm", t_.head_size);
      norm(part, "k_norm", t_.head_size);
    }
    return part;
  }

  // Compression to a rank is small and replicated; expansion to heads is cut by heads.
  void latent_projections(Part& part) {
    const std::int64_t query = t_.heads * t_.head_size;
    if (t_.query_rank > 0) {
      linear(part, "q_a", t_.query_rank, t_.hidden, Cut::none, t_.qkv_bias);
      norm(part, "q_a_norm", t_.query_rank);
      linear(part, "q_b", query, t_.query_rank, Cut::rows, false);
    } else {
      linear(part, "q", query, t_.hidden, Cut::rows, false);
    }
    linear(part, "kv_a", t_.kv_rank + t_.rope_size, t_.hidden, Cut::none, t_.qkv_bias);
    norm(part, "kv_a_norm", t_.kv_rank);
    const std::int64_t content = t_.head_size - t_.rope_size;
    linear(part, "kv_b", t_.heads * (content + t_.value_size), t_.kv_rank, Cut::rows, false);
  }

  bool has_experts(int layer) const {
    return t_.experts > 1 && layer >= t_.dense_layers &&
           (t_.expert_layer.empty() || t_.expert_layer[std::size_t(layer)]);
  }

  Part mlp(int layer) {
    Part part{.kind = PartKind::mlp, .layer = layer};
    norm(part, "norm", t_.hidden);
    if (!has_experts(layer)) {
      feed_forward(part, "", t_.feed_forward);
      return part;
    }
    linear(part, "router", t_.experts, t_.hidden, Cut::none, false);
    const auto expert = [&](const char* name, std::int64_t out, std::int64_t in, Cut cut) {
      add(part, {.name = name, .rows = out, .columns = in, .cut = cut, .expert = true, .copies = t_.experts});
    };
    if (t_.gated) expert("expert.gate.weight", t_.expert_feed_forward, t_.hidden, Cut::rows);
    expert("expert.up.weight", t_.expert_feed_forward, t_.hidden, Cut::rows);
    expert("expert.down.weight", t_.hidden, t_.expert_feed_forward, Cut::columns);
    if (t_.shared_feed_forward > 0) feed_forward(part, "shared.", t_.shared_feed_forward);
    if (t_.shared_gate) linear(part, "shared_gate", 1, t_.hidden, Cut::none, false);
    return part;
  }

  void feed_forward(Part& part, const std::string& prefix, std::int64_t size) {
    if (t_.gated) linear(part, prefix + "gate", size, t_.hidden, Cut::rows, t_.mlp_bias);
    linear(part, prefix + "up", size, t_.hidden, Cut::rows, t_.mlp_bias);
    linear(part, prefix + "down", t_.hidden, size, Cut::columns, t_.mlp_bias);
  }

  Part head() {
    Part part{.kind = PartKind::head};
    if (t_.vocabulary > 0 && !t_.tied_head) linear(part, "head", t_.vocabulary, t_.hidden, Cut::rows, false);
    if (t_.pooler) linear(part, "pooler", t_.hidden, t_.hidden, Cut::none, true);
    if (t_.classes > 0) linear(part, "classifier", t_.classes, t_.hidden, Cut::none, true);
    return part;
  }

  const Transformer& t_;
  const std::string& file_;
  double total_ = 0;
};

}  // namespace

Model build(const Transformer& transformer, const std::string& file) {
  const Transformer complete = completed(transformer, file);
  return Builder(complete, file).model();
}

}  // namespace dlnb
