// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include <dlnb/document.hpp>

#include "model/transformer.hpp"

namespace dlnb {

/// A HuggingFace config.json being read. Every reader throws UserError naming file and key; null counts as
/// absent. Keys without influence on sizes (dropout, token ids, versions) are free; a key that changes the
/// tensors of some family and that nobody read is refused, so that no model is quietly built wrong.
class Config {
 public:
  Config(const Value& root, std::string file) : root_(root), file_(std::move(file)) {}

  /// The value, or nullptr where absent or null.
  const Value* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  /// A whole number from `low` to `high`.
  std::int64_t integer(std::string_view key, double high, double low = 1) const;
  /// The same from `low`, or `fallback` where absent.
  std::int64_t integer_or(std::string_view key, std::int64_t fallback, double high, double low = 1) const;
  bool flag(std::string_view key, bool fallback) const;
  std::string word_or(std::string_view key, const std::string& fallback) const;

  [[noreturn]] void refuse(std::string_view key, std::string_view problem, std::string_view hint) const;
  /// Refuses every key with influence on the tensors that no reader has asked for.
  void refuse_unread() const;

  const std::string& file() const { return file_; }

 private:
  const Value& root_;
  std::string file_;
  mutable std::set<std::string, std::less<>> read_;
};

/// The keys that llama, mistral, mixtral, qwen and deepseek share.
void read_decoder(const Config& config, Transformer& transformer);
Keys decoder_keys();

/// Experts as qwen's mixtures write them: which layers have them, how many, how large.
void read_sparse_layers(const Config& config, Transformer& transformer);

/// Latent attention and experts as deepseek writes them.
void read_deepseek(const Config& config, Transformer& transformer);

/// Attention of every layer reaches over the whole sequence, or UserError.
void require_full_attention(const Config& config);

/// A model from config.json. `name` is what results call it.
Model read_huggingface(const Value& root, const std::string& file, const std::string& name);

}  // namespace dlnb
