// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace dlnb {

/// The page that web/ is built into, without results. Throws Unavailable in a build without it.
/// Defined by a generated file, or by page/absent.cpp: cmake/Web.cmake chooses.
std::string_view web_page();

/// The tag whose content the page reads its results from: a JSON array, `[]` as built.
inline constexpr std::string_view results_tag = R"(<script type="application/json" id="dlnetbench-results">)";

}  // namespace dlnb
