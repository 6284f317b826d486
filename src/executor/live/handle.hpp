// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace dlnb {

/// A resource of a C library, given back when this goes.
template <class T, class Result>
class Handle {
 public:
  using Release = Result (*)(T);

  Handle() = default;
  Handle(T value, Release release) : value_(value), release_(release) {}
  Handle(Handle&& other) noexcept
      : value_(std::exchange(other.value_, T{})), release_(std::exchange(other.release_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(value_, other.value_);
    std::swap(release_, other.release_);
    return *this;
  }
  ~Handle() {
    if (release_) release_(value_);
  }

  T get() const { return value_; }

 private:
  T value_{};
  Release release_ = nullptr;
};

}  // namespace dlnb
