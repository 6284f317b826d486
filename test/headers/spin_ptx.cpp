// SPDX-License-Identifier: Apache-2.0
// Prints the kernel of compute phases.
#include <cstdio>

#include "executor/live/gpu/spin_kernel.hpp"

int main() { return std::fputs(dlnb::gpu::spin_in_ptx, stdout) < 0; }
