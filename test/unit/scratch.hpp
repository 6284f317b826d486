// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace dlnb {

/// A folder of its own for one test, gone afterwards.
class Scratch {
 public:
  Scratch() {
    static int number = 0;
    folder_ = std::filesystem::temp_directory_path() /
              ("dlnetbench-test-" + std::to_string(getpid()) + "-" + std::to_string(number++));
    std::filesystem::create_directories(folder_);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = folder_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace dlnb
