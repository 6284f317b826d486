// SPDX-License-Identifier: Apache-2.0
// What is used of AMD's run-time compiler, declared here so that a build needs none of its packages; test/headers/
// compares these declarations with the real ones.
#pragma once

#include <cstddef>
#include <string>

namespace dlnb::gpu::hiprtc {

enum class Result : int { success = 0 };
using Program = struct OpaqueProgram*;

struct Functions {
  Result (*create)(Program* program, const char* source, const char* name, int headers, const char** contents,
                   const char** names);
  Result (*destroy)(Program* program);
  Result (*compile)(Program program, int options, const char** option);
  Result (*log_size)(Program program, std::size_t* bytes);
  Result (*log)(Program program, char* text);
  Result (*code_size)(Program program, std::size_t* bytes);
  Result (*code)(Program program, char* code);
  const char* (*error_text)(Result result);
};

template <class Table, class Visit>
constexpr void each_function(Table& f, Visit visit) {
  visit("hiprtcCreateProgram", f.create);
  visit("hiprtcDestroyProgram", f.destroy);
  visit("hiprtcCompileProgram", f.compile);
  visit("hiprtcGetProgramLogSize", f.log_size);
  visit("hiprtcGetProgramLog", f.log);
  visit("hiprtcGetCodeSize", f.code_size);
  visit("hiprtcGetCode", f.code);
  visit("hiprtcGetErrorString", f.error_text);
}

/// The source in HIP C++ as code for the device in use. Throws std::runtime_error with the compiler's words.
std::string compile(const char* source);

}  // namespace dlnb::gpu::hiprtc
