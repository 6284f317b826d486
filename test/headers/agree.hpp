// SPDX-License-Identifier: Apache-2.0
// Whether a function that we declare is called as the one of a real header: the same number of parameters, each of the
// same kind and size. Handles may have other names, and a device address may be a number or a pointer.
#pragma once

#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>

#include "executor/live/gpu/functions.hpp"

namespace dlnb::test {

template <class T, class = void>
inline constexpr bool complete = false;
template <class T>
inline constexpr bool complete<T, std::void_t<decltype(sizeof(T))>> = true;

template <class Ours, class Theirs>
constexpr bool same_kind() {
  using A = std::remove_cv_t<Ours>;
  using B = std::remove_cv_t<Theirs>;
  if constexpr (std::is_same_v<A, B>) {
    return true;
  } else if constexpr (std::is_same_v<A, gpu::Address>) {
    return (std::is_pointer_v<B> || std::is_unsigned_v<B>) && sizeof(A) == sizeof(B);
  } else if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
    return same_kind<std::remove_pointer_t<A>, std::remove_pointer_t<B>>();
  } else if constexpr (std::is_class_v<A> && std::is_class_v<B>) {
    if constexpr (complete<A> && complete<B>)
      return sizeof(A) == sizeof(B) && alignof(A) == alignof(B) && std::is_trivially_copyable_v<A> &&
             std::is_trivially_copyable_v<B>;
    else return complete<A> == complete<B>;
  } else if constexpr (std::is_enum_v<A> && (std::is_enum_v<B> || std::is_integral_v<B>)) {
    return sizeof(A) == sizeof(B);
  } else if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
    return sizeof(A) == sizeof(B) && std::is_signed_v<A> == std::is_signed_v<B>;
  } else {
    return false;
  }
}

template <class Ours, class Theirs>
struct Agrees : std::false_type {};
template <class Result, class... Parameters, class TheirResult, class... TheirParameters>
  requires(sizeof...(Parameters) == sizeof...(TheirParameters))
struct Agrees<Result (*)(Parameters...), TheirResult (*)(TheirParameters...)>
    : std::bool_constant<same_kind<Result, TheirResult>() &&
                         (same_kind<Parameters, TheirParameters>() && ...)> {};

// The comparison is worth something only if it can fail.
using gpu::Address;
static_assert(Agrees<int (*)(Address, const void*), int (*)(unsigned long long, void*)>::value);
static_assert(!Agrees<int (*)(Address, const void*), int (*)(unsigned long long)>::value);
static_assert(!Agrees<int (*)(int, const void*), int (*)(const void*, int)>::value);
static_assert(!Agrees<int (*)(unsigned long), int (*)(int)>::value);
static_assert(!Agrees<int (*)(gpu::Stream), int (*)(void*)>::value);
static_assert(!Agrees<int (*)(gpu::Stream*), int (*)(gpu::Stream)>::value);

/// Names by which functions are looked for; what was not compared is missed in the end.
class Names {
 public:
  template <class Function>
  void add(const char* name, const Function& function) {
    if (*name) names_[&function] = name;
  }
  template <class Function>
  void compare(const Function& function, const char* theirs) {
    const auto place = names_.find(&function);
    if (place == names_.end() || place->second != theirs) {
      std::printf("%s is looked for as '%s'\n", theirs, place == names_.end() ? "" : place->second.c_str());
      ++wrong_;
    }
    if (place != names_.end()) names_.erase(place);
  }
  int result() const {
    for (const auto& [function, name] : names_) std::printf("%s was not compared\n", name.c_str());
    return wrong_ + int(names_.size()) == 0 ? 0 : 1;
  }

 private:
  std::map<const void*, std::string> names_;
  int wrong_ = 0;
};

}  // namespace dlnb::test

#define DLNB_TEXT(name) #name
#define DLNB_EXPANDED(name) DLNB_TEXT(name)
/// Types when it is compiled, names (behind the header's macros) when it is run.
#define DLNB_COMPARE(member, theirs)                                                        \
  static_assert(dlnb::test::Agrees<decltype(functions.member), decltype(&::theirs)>::value, \
                #theirs " is declared otherwise");                                          \
  names.compare(functions.member, DLNB_EXPANDED(theirs))
