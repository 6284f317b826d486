// SPDX-License-Identifier: Apache-2.0
#include "executor/live/programs.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace dlnb {
namespace {

namespace fs = std::filesystem;

bool executable(const fs::path& file) {
  std::error_code failure;
  return access(file.c_str(), X_OK) == 0 && fs::is_regular_file(file, failure);
}

}  // namespace

std::string program_in_path(std::initializer_list<std::string_view> names) {
  const char* const path = std::getenv("PATH");
  for (const std::string_view name : names) {
    if (name.find('/') != std::string_view::npos) {
      if (executable(name)) return fs::absolute(name).string();
      continue;
    }
    for (std::string_view rest = path ? path : ""; !rest.empty();) {
      const std::size_t colon = std::min(rest.find(':'), rest.size());
      const fs::path file = fs::path(rest.substr(0, colon)) / name;
      rest.remove_prefix(std::min(colon + 1, rest.size()));
      if (executable(file)) return file.string();
    }
  }
  return {};
}

std::string shell_word(std::string_view text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') word += "'\\''";
    else word += c;
  }
  return word + "'";
}

}  // namespace dlnb
