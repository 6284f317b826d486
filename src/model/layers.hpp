// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <dlnb/document.hpp>
#include <dlnb/model.hpp>

namespace dlnb {

/// A convolutional network from an explicit list of parts (data/models/resnet-50.toml shows the form).
/// Throws UserError at file and line where a key is unknown or an image has shrunk to nothing.
Model read_layers(const Value& root, const std::string& file, const std::string& name);

}  // namespace dlnb
