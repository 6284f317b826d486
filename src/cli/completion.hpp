// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace dlnb {

/// The completion script for "bash", "zsh" or "fish", generated from the commands and what has a name here
/// now.
std::string completion_script(std::string_view shell);

}  // namespace dlnb
