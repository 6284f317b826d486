// SPDX-License-Identifier: Apache-2.0
#include "executor/live/gpu/spin_kernel.hpp"

#include "executor/live/gpu/hiprtc.hpp"

namespace dlnb::gpu {
namespace {

constexpr char spin_in_hip[] = R"(
extern "C" __global__ void dlnb_spin(unsigned long long ticks) {
  const unsigned long long begin = wall_clock64();
  while (wall_clock64() - begin < ticks) {
  }
}
)";

}  // namespace

// Of the oldest version and target that drivers of today still take with all newer devices.
const char* const spin_in_ptx = R"(
.version 6.0
.target sm_60
.address_size 64

.visible .entry dlnb_spin(.param .u64 ticks)
{
  .reg .pred %more;
  .reg .u64 %limit, %begin, %now, %passed;

  ld.param.u64 %limit, [ticks];
  mov.u64 %begin, %globaltimer;
look:
  mov.u64 %now, %globaltimer;
  sub.u64 %passed, %now, %begin;
  setp.lt.u64 %more, %passed, %limit;
  @%more bra look;
  ret;
}
)";

std::string spin_image(const Driver& driver) {
  return driver.title == "CUDA" ? std::string(spin_in_ptx) : hiprtc::compile(spin_in_hip);
}

}  // namespace dlnb::gpu
