// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <oneapi/ccl.hpp>

#include <string>
#include <utility>
#include <vector>

#include "executor/live/store.hpp"

namespace dlnb::oneccl {

/// Where the members of one communicator tell oneCCL's addresses: our store, so that no rank listens for it. Its own
/// key-value store is a server in rank 0.
class Keys final : public ccl::kvs_interface {
 public:
  /// `prefix` is the communicator's alone.
  Keys(Store store, std::string prefix) : store_(std::move(store)), prefix_(std::move(prefix)) {}

  /// Empty where the key is not set yet; oneCCL asks again.
  ccl::vector_class<char> get(const ccl::string_class& key) override;
  void set(const ccl::string_class& key, const ccl::vector_class<char>& data) override;
  int get_id() override { return -1; }

 private:
  const Store store_;
  const std::string prefix_;
};

}  // namespace dlnb::oneccl
