// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace dlnb {

/// The full path of the first of these programs that is in PATH (or has a slash and is there); empty: none.
std::string program_in_path(std::initializer_list<std::string_view> names);

/// One word for a POSIX shell, whatever is in it.
std::string shell_word(std::string_view text);

}  // namespace dlnb
