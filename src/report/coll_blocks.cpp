// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "report/coll_report.hpp"

namespace dlnb {

std::vector<CollBlock> blocks_of(const CollTable& table) {
  std::vector<CollBlock> blocks;
  for (const CollRow& row : table.rows) {
    if (blocks.empty() || blocks.back().operation != row.operation || blocks.back().dtype != row.dtype)
      blocks.push_back({row.operation, row.dtype, {}});
    blocks.back().rows.push_back(&row);
  }
  return blocks;
}

std::string world_text(const CollTable& table) {
  std::string text = table.library.empty() || table.library == table.executor
                         ? table.executor
                         : fmt::format("{} ({})", table.executor, table.library);
  text += ", " + counted(table.spec.ranks, "rank");
  if (table.spec.groups > 1)
    text += fmt::format(" in {} {} groups", table.spec.groups, name_of(table.spec.grouping));
  return text;
}

}  // namespace dlnb
