// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace dlnb {

/// The folder with models/, devices/, machines/, plans/: $DLNETBENCH_DATA, beside the installed binary,
/// or the source tree this was built from. Throws Unavailable where there is none.
std::filesystem::path data_folder();

/// Stems of the TOML files in data/<kind>/, sorted.
std::vector<std::string> data_names(const std::string& kind);

/// data/<kind>/<name>.toml, or `name_or_file` itself where it is an existing file or looks like a path.
/// Throws UserError with the nearest names where nothing is called so.
std::filesystem::path find_data(const std::string& kind, const std::string& name_or_file,
                                const std::string& where);

}  // namespace dlnb
