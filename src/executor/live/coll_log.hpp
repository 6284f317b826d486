// SPDX-License-Identifier: Apache-2.0
// What rank 0 of a collective benchmark has measured so far, in a file beside the flight recorders: it outlives the rank.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <dlnb/coll.hpp>

#include "executor/live/coll_case.hpp"

namespace dlnb {

struct LoggedColl {
  std::string library;
  std::vector<CollCase> cases;  ///< all rows of the table, measured or not
  std::vector<std::string> notes;
  std::vector<CollRow> rows;  ///< measured
};

class CollLog {
 public:
  /// Nothing is kept where `folder` is empty or cannot be written to.
  CollLog(const std::filesystem::path& folder, const std::string& library,
          const std::vector<CollCase>& cases);
  void add(const CollRow& row);
  void add_note(const std::string& note);
  void remove();

 private:
  void append(int kind, const std::string& bytes);

  std::filesystem::path file_;
  std::ofstream stream_;
};

/// Nothing where there is no such file. What a rank was writing when it ended is left out.
std::optional<LoggedColl> read_coll_log(const std::filesystem::path& folder);

}  // namespace dlnb
