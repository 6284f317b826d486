// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace dlnb {

/// What is wrong with `value` under `schema`, one line each. Knows the keywords docs/reference/*.schema.json
/// use and reports any other, so that nothing goes unchecked.
std::vector<std::string> violations(const nlohmann::json& schema, const nlohmann::json& value);

}  // namespace dlnb
