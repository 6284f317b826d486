// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <iostream>
#include <streambuf>

namespace dlnb::oneccl {

/// oneCCL writes what it has to say to std::cout, where data belongs. As long as this lives, that goes where errors go.
class Log {
 public:
  /// At first it goes nowhere, unless the user has set a level: oneCCL announces each of its settings.
  Log() : before_(std::cout.rdbuf(std::getenv("CCL_LOG_LEVEL") ? std::cerr.rdbuf() : &nowhere_)) {}
  ~Log() { std::cout.rdbuf(before_); }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void speak() { std::cout.rdbuf(std::cerr.rdbuf()); }

 private:
  struct Nowhere final : std::streambuf {
    int_type overflow(int_type c) override { return traits_type::not_eof(c); }
  };

  Nowhere nowhere_;
  std::streambuf* const before_;
};

}  // namespace dlnb::oneccl
