// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dlnb {

/// Of what is written for a terminal.
inline constexpr std::size_t terminal_width = 96;

/// Columns a text takes on a terminal: UTF-8 characters that are not continuation bytes.
std::size_t columns(std::string_view text);

/// Words of `text` in lines of at most `terminal_width`, all led by `indent` spaces; `lead` stands at the start of the
/// first.
std::string wrapped(std::string_view lead, std::string_view text, std::size_t indent);

}  // namespace dlnb
