// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dlnb {

/// The pages of docs/reference/ that this program writes: "cli", "options", "lists".
std::vector<std::string> reference_pages();

/// One of them as Markdown, the same on every host. Throws UserError for another name.
std::string reference_page(std::string_view name);

}  // namespace dlnb
