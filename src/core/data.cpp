// SPDX-License-Identifier: Apache-2.0
#include "core/data.hpp"

#include <algorithm>
#include <cstdlib>

#include <dlnb/document.hpp>
#include <dlnb/error.hpp>

#include "core/build.hpp"

namespace dlnb {
namespace {

namespace fs = std::filesystem;

// <prefix>/bin/dlnetbench finds <prefix>/share/dlnetbench, wherever the prefix was moved to.
fs::path beside_the_program() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : program.parent_path().parent_path() / "share" / "dlnetbench";
}

bool looks_like_a_path(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".toml") || text.ends_with(".json");
}

/// The user's own file, which the option is blamed for where it cannot be one of ours.
std::string checked(const std::string& kind, const std::string& file, const std::string& where) {
  std::error_code error;
  if (fs::is_directory(file, error)) throw UserError(where, in_quotes(file) + " is a folder, not a file");
  const fs::path extension = fs::path(file).extension();
  if (extension != ".toml" && extension != ".json")
    throw UserError(where, in_quotes(file) + " is neither a .toml nor a .json file",
                    kind == "models" ? "a model is a TOML file or a HuggingFace config.json" : "");
  return file;
}

}  // namespace

fs::path data_folder() {
  std::error_code error;
  if (const char* chosen = std::getenv("DLNETBENCH_DATA"); chosen && *chosen) {
    if (!fs::is_directory(chosen, error))
      throw UserError("DLNETBENCH_DATA", in_quotes(chosen) + " is not a folder",
                      "it is the folder that holds models/, devices/, machines/ and plans/");
    return chosen;
  }
  for (const fs::path& folder : {beside_the_program(), fs::path(build::source_data)})
    if (!folder.empty() && fs::is_directory(folder / "models", error)) return folder;
  throw Unavailable("data",
                    "the shipped models, devices, machines and plans are not where they were installed",
                    "set DLNETBENCH_DATA to the data folder");
}

std::vector<std::string> data_names(const std::string& kind) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(data_folder() / kind, error))
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

fs::path find_data(const std::string& kind, const std::string& name_or_file, const std::string& where) {
  std::error_code error;
  if (looks_like_a_path(name_or_file)) {
    if (!fs::exists(name_or_file, error))
      throw UserError(where, "there is no file " + in_quotes(name_or_file));
    return checked(kind, name_or_file, where);
  }
  // What is shipped comes first: a stray file in the working folder must not change what a name means.
  const std::vector<std::string> names = data_names(kind);
  if (std::find(names.begin(), names.end(), name_or_file) != names.end())
    return data_folder() / kind / (name_or_file + ".toml");
  if (!name_or_file.empty() && fs::is_regular_file(name_or_file, error))
    return checked(kind, name_or_file, where);
  throw UserError(where, "nothing is called " + in_quotes(name_or_file), choose_one_of(name_or_file, names));
}

}  // namespace dlnb
