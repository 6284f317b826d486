// SPDX-License-Identifier: Apache-2.0
#include "report/wrapped.hpp"

#include <algorithm>

namespace dlnb {

std::size_t columns(std::string_view text) {
  return std::size_t(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string wrapped(std::string_view lead, std::string_view text, std::size_t indent) {
  std::string out, line(lead);
  line.resize(std::max(line.size(), indent), ' ');
  const std::string margin(indent, ' ');
  bool is_empty = true;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find_first_of(" \n\t"), text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    if (word.empty()) continue;
    if (!is_empty && columns(line) + 1 + columns(word) > terminal_width) {
      out += line + "\n";
      line = margin, is_empty = true;
    }
    line += (is_empty ? "" : " ") + std::string(word);
    is_empty = false;
  }
  return out + line + "\n";
}

}  // namespace dlnb
