// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <fmt/format.h>

#include <dlnb/document.hpp>
#include <dlnb/error.hpp>
#include <dlnb/options.hpp>

#include "core/data.hpp"
#include "model/config.hpp"
#include "model/family.hpp"
#include "model/layers.hpp"
#include "model/model.hpp"
#include "model/transformer.hpp"

namespace dlnb {
namespace {

constexpr auto transformer_options = options(
    option("name", &Transformer::name, "what results call it"),
    option("summary", &Transformer::summary, "one line"), option("source", &Transformer::source, "citation"),
    option("family", &Transformer::family, "the kind of layer"),
    option("layers", &Transformer::layers, "attention and feed-forward pairs", {1, largest::layers}),
    option("hidden", &Transformer::hidden, "hidden size", {1, largest::hidden}),
    option("heads", &Transformer::heads, "attention heads", {1, largest::heads}),
    option("kv_heads", &Transformer::kv_heads, "key-value heads; default: heads", {1, largest::heads}),
    option("head_size", &Transformer::head_size, "size of a head; default: hidden / heads",
           {1, largest::hidden}),
    option("feed_forward", &Transformer::feed_forward, "feed-forward size", {1, largest::feed_forward}),
    option("vocabulary", &Transformer::vocabulary, "tokens in the vocabulary", {1, largest::vocabulary}),
    option("sequence", &Transformer::sequence, "tokens per sample", {1, largest::sequence}),
    option("window", &Transformer::window, "tokens a query looks back at most", {1, largest::sequence}),
    option("gated", &Transformer::gated, "gate, up and down instead of up and down"),
    option("qkv_bias", &Transformer::qkv_bias, "q, k and v have biases"),
    option("output_bias", &Transformer::output_bias, "the attention output has a bias"),
    option("mlp_bias", &Transformer::mlp_bias, "the feed-forward has biases"),
    option("tied_head", &Transformer::tied_head, "the LM head is the embedding"),
    option("experts", &Transformer::experts, "experts per layer", {2, largest::experts}),
    option("experts_active", &Transformer::experts_active, "experts a token visits", {1, largest::experts}),
    option("expert_feed_forward", &Transformer::expert_feed_forward, "of one expert; default: feed_forward",
           {1, largest::feed_forward}),
    option("shared_feed_forward", &Transformer::shared_feed_forward, "of the experts every token visits",
           {0, largest::feed_forward}),
    option("dense_layers", &Transformer::dense_layers, "first layers without experts", {0, largest::layers}),
    option("image", &Transformer::image, "pixels per side", {1, largest::image}),
    option("patch", &Transformer::patch, "pixels per side of a patch", {1, largest::image}),
    option("channels", &Transformer::channels, "of an image", {1, largest::image}),
    option("classes", &Transformer::classes, "of a classifier", {0, largest::vocabulary}),
    option("pooler", &Transformer::pooler, "ends in a pooler"));

Model read_model(const Value& root, const std::string& file, const std::string& name) {
  if (root.find("parts")) return read_layers(root, file, name);
  const Value* family = root.find("family");
  if (!family) throw UserError(file + " family", "is missing", choose_one_of("", names_of(families::all())));
  std::string kind;
  read_value(*family, "family", kind);
  Transformer transformer = entry_called(families::all(), kind, family->where() + " family").preset();
  if (kind.starts_with("deepseek"))
    throw UserError(family->where() + " family",
                    "latent attention is read from a HuggingFace config.json only",
                    "use --model path/to/config.json");
  transformer.name = name;
  transformer_options.read(root, "", transformer);
  return build(transformer, file);
}

// A checkpoint's config.json is called after its folder.
std::string name_of_file(const std::filesystem::path& path) {
  std::string stem = path.stem().string();
  if (stem != "config") return stem;
  const std::string folder = std::filesystem::absolute(path).parent_path().filename().string();
  return folder.empty() ? stem : folder;
}

}  // namespace

Model load_model(const std::string& name_or_file, const std::string& where) {
  std::filesystem::path path;
  std::error_code ignored;
  if (name_or_file.find('/') != std::string::npos && std::filesystem::is_directory(name_or_file, ignored))
    path = std::filesystem::path(name_or_file) / "config.json";
  else path = find_data("models", name_or_file, where);

  const std::string extension = path.extension().string();
  if (extension != ".toml" && extension != ".json")
    throw UserError(where, fmt::format("'{}' is not a model file", name_or_file),
                    "expected a shipped name, a .toml file or a HuggingFace config.json");
  const Value root = read_document(path);
  const std::string file = path.string();
  return extension == ".json" ? read_huggingface(root, file, name_of_file(path))
                              : read_model(root, file, name_of_file(path));
}

std::vector<std::string> shipped_models() { return data_names("models"); }

}  // namespace dlnb
