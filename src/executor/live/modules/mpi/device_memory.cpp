// SPDX-License-Identifier: Apache-2.0
#include "executor/live/modules/mpi/device_memory.hpp"

#include <dlfcn.h>

namespace dlnb::mpi {
namespace {

using Takes = MemoryAnswer::Takes;

// As MPICH numbers them: MPIX_GPU_SUPPORT_CUDA, MPIX_GPU_SUPPORT_HIP.
constexpr int number_of_cuda = 0, number_of_hip = 2;

template <class Function>
Function function_called(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

MemoryAnswer answer(bool yes, const char* asked) { return {yes ? Takes::yes : Takes::no, asked}; }

}  // namespace

MemoryAnswer takes_memory_of(std::string_view runtime) {
  const bool cuda = runtime == "CUDA";
  struct Question {
    bool cuda;
    const char* function;
  };
  constexpr Question questions[] = {{true, "MPIX_Query_cuda_support"},
                                    {false, "MPIX_Query_hip_support"},
                                    {false, "MPIX_Query_rocm_support"}};
  for (const auto& [of_cuda, function] : questions)
    if (const auto ask = of_cuda == cuda ? function_called<int (*)()>(function) : nullptr)
      return answer(ask() == 1, function);
  constexpr const char* general = "MPIX_GPU_query_support";
  if (const auto ask = function_called<int (*)(int, int*)>(general)) {
    int yes = 0;
    if (ask(cuda ? number_of_cuda : number_of_hip, &yes) == 0) return answer(yes != 0, general);
  }
  return {Takes::not_told, {}};
}

}  // namespace dlnb::mpi
