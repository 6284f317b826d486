// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <dlnb/registry.hpp>
#include <dlnb/result.hpp>

namespace dlnb {

/// A way to write one result. One file each in formats/.
struct Format {
  std::string_view name;  ///< "text", "json", "csv"
  std::string_view summary;
  std::string (*write)(const Result&);
};
namespace formats {
Registry<Format> all();
}

/// The job that a slowing is due to; empty where that is the job itself.
std::string neighbour(const Result& result, const Slowing& slowing);

/// Writes to a private temporary beside `file`, then renames: a reader never sees half a result.
void write_file(const std::filesystem::path& file, const std::string& text);

/// The self-contained page over one or more result files (the documented JSON, as written by `formats`).
/// Throws UserError naming file and member where one is not a `dlnetbench.result/1` by its schema, and then
/// Unavailable in a build without the page.
std::string html_report(const std::vector<std::filesystem::path>& results);

}  // namespace dlnb
