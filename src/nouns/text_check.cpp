// SPDX-License-Identifier: Apache-2.0
#include "nouns/text_check.hpp"

#include <algorithm>

#include <dlnb/error.hpp>
#include <fmt/format.h>

namespace dlnb {
namespace {

// Length of the UTF-8 sequence at `at`, 0 where there is none (RFC 3629: no overlong forms, no surrogates,
// nothing above U+10FFFF).
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  const auto tail = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return tail(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const bool allowed = !(lead == 0xE0 && byte(1) < 0xA0) && !(lead == 0xED && byte(1) > 0x9F);
    return allowed && tail(1) && tail(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const bool allowed = !(lead == 0xF0 && byte(1) < 0x90) && !(lead == 0xF4 && byte(1) > 0x8F);
    return allowed && tail(1) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

int line_at(std::string_view text, std::size_t position) {
  const auto end = text.begin() + std::ptrdiff_t(std::min(position, text.size()));
  return 1 + int(std::count(text.begin(), end, '\n'));
}

void check_text(std::string_view text, const std::string& name) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    if (text[at] == '\0' || length == 0)
      throw UserError(fmt::format("{}:{}", name, line_at(text, at)),
                      text[at] == '\0' ? "a NUL byte; this is not a text file" : "not UTF-8 text");
    at += length;
  }
}

}  // namespace dlnb
