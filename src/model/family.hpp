// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <dlnb/registry.hpp>

#include "model/config.hpp"
#include "model/transformer.hpp"

namespace dlnb {

/// A kind of transformer with its own layer and its own words in config.json. One file each in families/.
struct Family {
  std::string_view name;  ///< `model_type` of config.json, `family` of a model file
  std::string_view summary;
  std::string_view classes[2];  ///< what `architectures` may name; unused ones empty
  Transformer (*preset)();      ///< the switches; no sizes
  void (*read)(const Config& config, Transformer& transformer);
};
namespace families {
Registry<Family> all();
}

}  // namespace dlnb
