// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <dlnb/coll.hpp>
#include <dlnb/registry.hpp>

namespace dlnb {

/// A way to write the table of a collective benchmark. One file each in coll_formats/.
struct CollFormat {
  std::string_view name;
  std::string_view summary;
  std::string_view extension;  ///< of a file that is in this format unless told otherwise; empty: none
  std::string (*write)(const CollTable&);
};
namespace coll_formats {
Registry<CollFormat> all();
}

/// The text of docs/reference/coll.schema.json.
std::string_view coll_schema();

/// Rows of one operation and one type, which follow each other: one table of the programs whose formats we write.
struct CollBlock {
  CollOperation operation = CollOperation::all_reduce;
  DataType dtype = DataType::float32;
  std::vector<const CollRow*> rows;
};
std::vector<CollBlock> blocks_of(const CollTable& table);

/// "Open MPI 4.1.4, 8 ranks in 2 groups"
std::string world_text(const CollTable& table);

}  // namespace dlnb
