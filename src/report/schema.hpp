// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace dlnb {

/// The text of docs/reference/result.schema.json.
std::string_view result_schema();

/// One disagreement of a value with a schema.
struct Violation {
  std::string where;    ///< "timeline.ranks[3].role"; empty: the value itself
  std::string problem;  ///< "expected a number, found null"

  bool operator==(const Violation&) const = default;
};

/// What is wrong with `value` under `schema`, the first `most` of it. Knows the keywords that
/// docs/reference/*.schema.json use and reports any other, so that nothing goes unchecked.
std::vector<Violation> violations(const nlohmann::json& schema, const nlohmann::json& value,
                                  std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace dlnb
