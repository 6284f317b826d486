// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "executor/live/backend.hpp"
#include "executor/live/nccl/library.hpp"
#include "executor/live/store.hpp"

namespace dlnb::nccl {

/// This rank among all, and how ranks tell each other the identifiers of communicators.
class World {
 public:
  /// The folder of a store, or nothing where there is one rank.
  World(int rank, int size, const std::string& store, std::chrono::milliseconds patience);

  int rank() const { return rank_; }
  int size() const { return size_; }
  std::chrono::milliseconds patience() const { return patience_; }

  void tell(const std::string& key, std::string_view value) const;
  /// Waits until somebody has told it. Throws std::runtime_error when nobody does in time.
  std::string hear(const std::string& key) const;

 private:
  const int rank_, size_;
  const std::chrono::milliseconds patience_;
  std::unique_ptr<const Store> store_;
  mutable std::map<std::string, std::string> own_;  ///< without a store
};

/// Joins the world and runs `body` as this process' rank. Throws Unavailable, and UserError where ranks outnumber
/// accelerators, the same on all ranks.
void open(const Library& library, const WorldOptions& options, const std::function<void(Transport&)>& body);

}  // namespace dlnb::nccl
