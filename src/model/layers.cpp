// SPDX-License-Identifier: Apache-2.0
// Convolutional networks as lists of parts. A part is what no parallel plan cuts: one convolution, or one
// residual block with its shortcut.
//   FLOPs per sample       2 · height·width of the output · out · in/groups · kernel²   per convolution
//                          2 · out · in                                                per linear layer
// One multiply-add is two FLOPs; He et al., arXiv:1512.03385, table 1, count multiply-adds. Norms, activations
// and pooling have no FLOPs here (about 1 % of the sum in the shipped networks).
#include "model/layers.hpp"

#include <fmt/format.h>

#include <dlnb/error.hpp>
#include <dlnb/options.hpp>

#include "model/transformer.hpp"

namespace dlnb {
namespace {

constexpr Range size_range{1, largest::image};

struct Convolution {
  std::int64_t out = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t groups = 1;
  bool bias = false;
  bool norm = true;
};
constexpr auto convolution_options =
    options(option("out", &Convolution::out, "output channels", size_range),
            option("kernel", &Convolution::kernel, "side of the kernel; padding is half of it", size_range),
            option("stride", &Convolution::stride, "step of the kernel", size_range),
            option("groups", &Convolution::groups, "groups of channels; all of them: depthwise", size_range),
            option("bias", &Convolution::bias, "has a bias"),
            option("norm", &Convolution::norm, "is followed by batch normalisation (weight and bias)"));

struct Pool {
  std::int64_t kernel = 2;
  std::int64_t stride = 2;
};
constexpr auto pool_options = options(option("kernel", &Pool::kernel, "side of the window", size_range),
                                      option("stride", &Pool::stride, "step of the window", size_range));

struct Network {
  std::string name;
  std::string summary;
  std::string source;
  std::int64_t image = 0;
  std::int64_t channels = 3;
};
constexpr auto network_options =
    options(option("name", &Network::name, "what results call it"),
            option("summary", &Network::summary, "one line"), option("source", &Network::source, "citation"),
            option("image", &Network::image, "pixels per side", size_range),
            option("channels", &Network::channels, "of an image", size_range));

// What flows from part to part.
struct Activation {
  std::int64_t channels = 0;
  std::int64_t side = 0;  // 0: a vector of `channels`
  double elements() const { return double(channels) * double(side ? side * side : 1); }
};

class Builder {
 public:
  Builder(Model& model, Activation input) : model_(model), at_(input) {}

  void add(const Value& row) {
    static const std::vector<std::string> known{"convolutions", "shortcut", "pool",
                                                "global_pool",  "linear",   "repeat"};
    row.table("parts");
    reject_unknown(row, "parts", known);
    std::int64_t repeat = 1;
    if (const Value* value = row.find("repeat")) {
      read_value(*value, "parts.repeat", repeat);
      check_range(*value, "parts.repeat", double(repeat), {1, 1e4});
    }
    for (std::int64_t i = 0; i < repeat; ++i) once(row);
  }

 private:
  void once(const Value& row) {
    part_ = Part{.kind = PartKind::convolution, .layer = int(model_.parts.size())};
    activations_ = 0;
    const Activation input = at_;
    const Value* convolutions = row.find("convolutions");
    const Value* linear_layer = row.find("linear");
    if (bool(convolutions) == bool(linear_layer))
      throw UserError(row.where() + " parts", "a part has either convolutions or linear",
                      "write one of them");
    if (convolutions)
      for (const Value& each : convolutions->array("parts.convolutions"))
        convolve(each, fmt::format("convolution{}", ++count_), at_, "parts.convolutions");
    if (const Value* shortcut = row.find("shortcut")) {
      Activation skip = input;
      convolve(*shortcut, fmt::format("shortcut{}", count_), skip, "parts.shortcut");
      if (skip.channels != at_.channels || skip.side != at_.side)
        throw UserError(shortcut->where() + " parts.shortcut",
                        fmt::format("ends in {}x{}x{}, the block in {}x{}x{}", skip.channels, skip.side,
                                    skip.side, at_.channels, at_.side, at_.side),
                        "give both the same channels and stride");
    }
    if (const Value* pool = row.find("pool")) {
      Pool window;
      pool_options.read(*pool, "parts.pool", window);
      at_.side = shrunk(*pool, "parts.pool", at_.side, window.kernel, window.stride);
    }
    bool global = false;
    if (const Value* pool = row.find("global_pool")) read_value(*pool, "parts.global_pool", global);
    if (global) at_.side = 0;
    if (linear_layer) linear(*linear_layer);

    if (activations_ > 1e15 || part_.forward_flops > 1e18)
      throw UserError(row.where() + " parts", "the layer is too large",
                      "check its sizes for a slipped digit");
    part_.activation_elements = std::int64_t(activations_);
    part_.output_elements = std::int64_t(at_.elements());
    if (double(model_.parts.size()) >= largest::layers)
      throw UserError(row.where() + " parts", fmt::format("more than {} parts", largest::layers),
                      "check repeat for a slipped digit");
    model_.parts.push_back(std::move(part_));
  }

  static std::int64_t shrunk(const Value& value, std::string_view key, std::int64_t side, std::int64_t kernel,
                             std::int64_t stride) {
    const std::int64_t room = side + 2 * ((kernel - 1) / 2) - kernel;
    if (side < 1 || room < 0)
      throw UserError(fmt::format("{} {}", value.where(), key),
                      fmt::format("a window of {} does not fit an image of {}", kernel, side),
                      "make the window smaller, or pool less before it");
    return room / stride + 1;
  }

  void convolve(const Value& value, const std::string& name, Activation& at, std::string_view key) {
    Convolution c;
    value.table(key);
    convolution_options.read(value, key, c);
    if (c.out < 1)
      throw UserError(fmt::format("{} {}.out", value.where(), key), "is missing",
                      "expected a number of channels");
    if (at.channels % c.groups != 0 || c.out % c.groups != 0)
      throw UserError(
          fmt::format("{} {}.groups", value.where(), key),
          fmt::format("{} and {} channels do not divide into {} groups", at.channels, c.out, c.groups),
          "choose a common divisor of both");
    const std::int64_t side = shrunk(value, key, at.side, c.kernel, c.stride);
    const Activation out{c.out, side};
    tensor(
        value,
        {.name = name + ".weight", .rows = c.out, .columns = at.channels / c.groups * c.kernel * c.kernel});
    if (c.bias) tensor(value, {.name = name + ".bias", .rows = c.out});
    if (c.norm) {
      tensor(value, {.name = name + ".norm.weight", .rows = c.out});
      tensor(value, {.name = name + ".norm.bias", .rows = c.out});
    }
    const std::int64_t group_channels = at.channels / c.groups;
    part_.forward_flops += 2 * out.elements() * double(group_channels) * double(c.kernel * c.kernel);
    activations_ += at.elements() + out.elements();
    at = out;
  }

  void linear(const Value& value) {
    std::int64_t out = 0;
    read_value(value, "parts.linear", out);
    check_range(value, "parts.linear", double(out), size_range);
    const auto in = std::int64_t(at_.elements());
    part_.kind = PartKind::head;
    const std::string name = fmt::format("linear{}", ++count_);
    tensor(value, {.name = name + ".weight", .rows = out, .columns = in});
    tensor(value, {.name = name + ".bias", .rows = out});
    part_.forward_flops += 2 * double(out) * double(in);
    activations_ += double(in) + double(out);
    at_ = {out, 0};
  }

  void tensor(const Value& value, Tensor tensor) {
    parameters_ += double(tensor.rows) * double(tensor.columns);
    if (parameters_ > 1e18)
      throw UserError(value.where() + " parts", "the model has more than 1e18 parameters",
                      "check the sizes for a slipped digit");
    part_.tensors.push_back(std::move(tensor));
  }

  Model& model_;
  Activation at_;
  Part part_;
  double activations_ = 0;
  double parameters_ = 0;
  int count_ = 0;
};

}  // namespace

Model read_layers(const Value& root, const std::string& file, const std::string& name) {
  const Value* parts = root.find("parts");
  Value::Table described;  // everything but the list
  for (const auto& [key, value] : root.table())
    if (key != "parts") described.emplace_back(key, value);
  Network network{.name = name};
  network_options.read(Value(std::move(described), root.where()), "", network);
  if (network.image == 0)
    throw UserError(file + " image", "is missing", "expected the side of an image in pixels");

  Model model;
  model.name = network.name;
  model.summary = network.summary;
  model.source = network.source;
  model.sample = "image";
  const Value::Array& rows = parts->array("parts");
  if (rows.empty()) throw UserError(file + " parts", "is empty", "list at least one part");
  Builder builder(model, {network.channels, network.image});
  for (const Value& row : rows) builder.add(row);
  return model;
}

}  // namespace dlnb
