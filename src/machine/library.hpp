// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlnb/document.hpp>
#include <dlnb/machine.hpp>
#include <memory>
#include <string>
#include <vector>

namespace dlnb {

/// A shipped library by name, or a library TOML file.
std::shared_ptr<const Library> load_library(const std::string& name_or_file, const std::string& where);
std::vector<std::string> shipped_libraries();

/// An array of tables like a library's [[cost]]. Values they leave out are those of `base` where it knows the algorithm
/// and protocol.
std::vector<TuningCost> read_tuning_costs(const Value& array, const std::string& path, const Library* base);

Protocol read_protocol(const Value& value, const std::string& key);

}  // namespace dlnb
