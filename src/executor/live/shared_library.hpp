// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>

namespace dlnb {

/// A library that is looked for at run time, and stays loaded.
class SharedLibrary {
 public:
  /// The first of these names or paths that can be loaded; where none can, `problem` tells of the first.
  explicit SharedLibrary(std::initializer_list<const char*> names);

  bool loaded() const { return handle_ != nullptr; }
  const std::string& problem() const { return problem_; }
  /// Its file.
  const std::string& file() const { return file_; }

  /// Fills in the address of a function; false where the library has none of this name.
  template <class Function>
  bool find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(address_of(name));
    return function != nullptr;
  }

 private:
  void* address_of(const char* name) const;

  void* handle_ = nullptr;
  std::string problem_, file_;
};

}  // namespace dlnb
