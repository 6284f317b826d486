// SPDX-License-Identifier: Apache-2.0
#include "executor/live/gpu/hiprtc.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "executor/live/shared_library.hpp"

namespace dlnb::gpu::hiprtc {
namespace {

Functions load() {
  static const SharedLibrary library({"libhiprtc.so", "libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5"});
  if (!library.loaded())
    throw std::runtime_error(
        fmt::format("HIP's run-time compiler cannot be loaded ({}): install hiprtc from AMD's repository",
                    library.problem()));
  Functions call{};
  each_function(call, [&](const char* name, auto& function) {
    if (!library.find(name, function))
      throw std::runtime_error(fmt::format("{} has no {}", library.file(), name));
  });
  return call;
}

}  // namespace

std::string compile(const char* source) {
  const Functions call = load();
  Program program{};
  const auto check = [&](Result result, const char* what) {
    if (result == Result::success) return;
    std::string log;
    std::size_t bytes = 0;
    if (program && call.log_size(program, &bytes) == Result::success && bytes > 1) {
      log.resize(bytes);
      call.log(program, log.data());
    }
    const std::string text = fmt::format("{}: {} {}", what, call.error_text(result), log.c_str());
    if (program) call.destroy(&program);
    throw std::runtime_error(text);
  };
  check(call.create(&program, source, "dlnetbench", 0, nullptr, nullptr), "hiprtcCreateProgram");
  check(call.compile(program, 0, nullptr), "hiprtcCompileProgram");
  std::size_t bytes = 0;
  check(call.code_size(program, &bytes), "hiprtcGetCodeSize");
  std::string code(bytes, '\0');
  check(call.code(program, code.data()), "hiprtcGetCode");
  call.destroy(&program);
  return code;
}

}  // namespace dlnb::gpu::hiprtc
