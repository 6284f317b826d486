// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "cli/table.hpp"

namespace dlnb {

/// One thing `dlnetbench list` can enumerate.
struct Listing {
  std::string_view name;     ///< "models"
  std::string_view summary;  ///< what they are, where a new one goes
  Table (*table)();
};

std::span<const Listing> listings();

/// The entry called `name`; throws UserError with the nearest names.
const Listing& listing_called(std::string_view name);

/// The table without one column, if it has that.
Table without(Table table, std::string_view column);

}  // namespace dlnb
