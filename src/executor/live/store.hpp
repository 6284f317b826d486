// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace dlnb {

/// Where ranks that no MPI connects tell each other their addresses: a folder that all of them reach, one file
/// for each key. Safe with any number of writers of different keys.
class Store {
 public:
  /// Throws std::runtime_error where the folder is not there.
  explicit Store(std::filesystem::path folder);

  /// A key is a word of letters, digits, '-', '_' and '.'. Throws std::runtime_error where it cannot be written.
  void set(std::string_view key, std::string_view value) const;
  /// Waits until the key is set. Throws std::runtime_error, naming the key, after `patience`.
  std::string get(std::string_view key, std::chrono::milliseconds patience) const;
  /// What the key is set to now, if it is.
  std::optional<std::string> look(std::string_view key) const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path file_of(std::string_view key) const;

  std::filesystem::path folder_;
};

}  // namespace dlnb
