// SPDX-License-Identifier: Apache-2.0
// AMD's run-time compiler: what it makes is the source, marked.
#include "executor/live/gpu/hiprtc.hpp"

#include <cstdlib>
#include <cstring>
#include <string>

#include "stand-in/stand_in.hpp"

namespace dlnb::gpu::hiprtc {
struct OpaqueProgram {
  std::string source, code;
};
}  // namespace dlnb::gpu::hiprtc
using dlnb::gpu::hiprtc::Program;
using Compiled = dlnb::gpu::hiprtc::Result;

STAND_IN_EXPORT Compiled hiprtcCreateProgram(Program* program, const char* source, const char*, int,
                                             const char**, const char**) {
  *program = new dlnb::gpu::hiprtc::OpaqueProgram{source, {}};
  return Compiled::success;
}
STAND_IN_EXPORT Compiled hiprtcDestroyProgram(Program* program) {
  delete *program;
  *program = nullptr;
  return Compiled::success;
}
STAND_IN_EXPORT Compiled hiprtcCompileProgram(Program program, int, const char**) {
  if (std::getenv("DLNB_STAND_IN_COMPILER_FAILS")) return Compiled{6};
  program->code = "code of " + program->source;
  return Compiled::success;
}
STAND_IN_EXPORT Compiled hiprtcGetProgramLogSize(Program, std::size_t* bytes) {
  *bytes = sizeof "no such architecture";
  return Compiled::success;
}
STAND_IN_EXPORT Compiled hiprtcGetProgramLog(Program, char* text) {
  std::strcpy(text, "no such architecture");
  return Compiled::success;
}
STAND_IN_EXPORT Compiled hiprtcGetCodeSize(Program program, std::size_t* bytes) {
  *bytes = program->code.size();
  return Compiled::success;
}
STAND_IN_EXPORT Compiled hiprtcGetCode(Program program, char* code) {
  std::memcpy(code, program->code.data(), program->code.size());
  return Compiled::success;
}
STAND_IN_EXPORT const char* hiprtcGetErrorString(Compiled) { return "HIPRTC_ERROR_OF_STAND_IN"; }
