// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace dlnb {

/// Deepest nesting of tables and lists that is read; real files have five levels.
inline constexpr int deepest_nesting = 64;

/// Throws UserError with file:line where the text holds a NUL byte or is not UTF-8.
void check_text(std::string_view text, const std::string& name);

/// 1-based line of a byte.
int line_at(std::string_view text, std::size_t position);

}  // namespace dlnb
