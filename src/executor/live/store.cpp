// SPDX-License-Identifier: Apache-2.0
#include "executor/live/store.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <utility>

namespace dlnb {
namespace {

namespace fs = std::filesystem;

bool allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '.';
}

std::optional<std::string> content(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

}  // namespace

Store::Store(fs::path folder) : folder_(std::move(folder)) {
  std::error_code failure;
  if (!fs::is_directory(folder_, failure))
    throw std::runtime_error("store: there is no folder " + folder_.string());
}

fs::path Store::file_of(std::string_view key) const {
  if (key.empty() || key.front() == '.' || !std::ranges::all_of(key, allowed))
    throw std::runtime_error("store: '" + std::string(key) + "' is no key");
  return folder_ / key;
}

void Store::set(std::string_view key, std::string_view value) const {
  const fs::path file = file_of(key);
  // Under a name that no reader looks for, until it is whole.
  const fs::path draft = folder_ / ("." + std::string(key) + "." + std::to_string(getpid()));
  std::ofstream stream(draft, std::ios::binary);
  stream.write(value.data(), std::streamsize(value.size()));
  stream.close();
  std::error_code failure;
  if (stream) fs::rename(draft, file, failure);
  if (!stream || failure) throw std::runtime_error("store: cannot write " + file.string());
}

std::optional<std::string> Store::look(std::string_view key) const { return content(file_of(key)); }

std::string Store::get(std::string_view key, std::chrono::milliseconds patience) const {
  const fs::path file = file_of(key);
  const auto limit = std::chrono::steady_clock::now() + patience;
  for (std::chrono::milliseconds nap(1);; nap = std::min(nap * 2, std::chrono::milliseconds(20))) {
    if (std::optional<std::string> value = content(file)) return *std::move(value);
    if (std::chrono::steady_clock::now() >= limit)
      throw std::runtime_error("store: nobody has set '" + std::string(key) + "' in " +
                               std::to_string(patience.count()) + " ms");
    std::this_thread::sleep_for(nap);
  }
}

}  // namespace dlnb
