// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <dlnb/device.hpp>
#include <dlnb/error.hpp>

#include "model/model.hpp"

namespace dlnb {

inline std::string fixture(const std::string& name) {
  return DLNB_TEST_DATA "/fixtures/models/" + name + ".json";
}

/// A device of round numbers: 1 TFLOP/s, 1 GB/s.
inline Device round_device() {
  return {.name = "round", .peak = {1e12}, .memory_bandwidth = {1e9}, .memory = {std::int64_t(80e9)}};
}
inline Device device_of(double teraflops, double terabytes) {
  return {.name = "given", .peak = {teraflops * 1e12}, .memory_bandwidth = {terabytes * 1e12}, .memory = {0}};
}

/// A file in a folder of its own that goes away with it.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& text) {
    std::string pattern = (std::filesystem::temp_directory_path() / "dlnb-model-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    std::ofstream(path_ = folder_ / name) << text;
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  std::string path() const { return path_.string(); }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
  std::filesystem::path path_;
};

/// "what: hint" of the UserError that loading this file ends in; empty where it loads.
inline std::string refusal_of(const std::string& file) {
  try {
    load_model(file, "--model");
  } catch (const UserError& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "";
}

inline const Part& part_of(const Model& model, PartKind kind, int layer = -1) {
  for (const Part& part : model.parts)
    if (part.kind == kind && part.layer == layer) return part;
  throw std::out_of_range(name_of(kind));
}

}  // namespace dlnb
