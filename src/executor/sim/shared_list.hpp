// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace dlnb::sim {

/// A list that is written once and may then be the same memory as others like it. Copies share it: only whoever fills a
/// list may change it.
template <class T>
class SharedList {
 public:
  void reserve(std::size_t size) {
    if (!values_) values_ = std::make_shared<std::vector<T>>();
    values_->reserve(size);
    first_ = values_->data();
  }
  void push_back(const T& value) {
    if (!values_) values_ = std::make_shared<std::vector<T>>();
    values_->push_back(value);
    first_ = values_->data(), size_ = values_->size();
  }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T* data() const { return first_; }
  const T& operator[](std::size_t at) const { return first_[at]; }
  T& operator[](std::size_t at) { return first_[at]; }
  const T* begin() const { return first_; }
  const T* end() const { return first_ + size_; }
  T* begin() { return first_; }
  T* end() { return first_ + size_; }
  const T& back() const { return first_[size_ - 1]; }
  T& back() { return first_[size_ - 1]; }

  bool operator==(const SharedList& other) const {
    return first_ == other.first_ || std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  std::shared_ptr<std::vector<T>> values_;
  T* first_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace dlnb::sim
