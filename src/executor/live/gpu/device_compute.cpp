// SPDX-License-Identifier: Apache-2.0
#include "executor/live/gpu/device_compute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include <dlnb/units.hpp>

#include "executor/live/gpu/spin_kernel.hpp"

namespace dlnb::gpu {

DeviceCompute::DeviceCompute(const Device& device, Clock& clock, Progress* progress, double share,
                             bool shares_cores)
    : device_(device),
      clock_(clock),
      progress_(progress),
      shares_cores_(shares_cores),
      multiprocessors_(device.multiprocessors()),
      blocks_(unsigned(std::max(1.0, std::round(share * multiprocessors_)))),
      tick_(device.clock_tick()),
      stream_(device.stream()),
      ended_(device.event()) {
  const Driver& driver = device_.driver();
  const std::string image = spin_image(driver);
  Module module{};
  driver.check(driver.call.module_load(&module, image.c_str()), "loading the kernel of compute phases");
  module_ = {module, driver.call.module_unload};
  driver.check(driver.call.module_kernel(&kernel_, module, spin_kernel), "looking for the kernel");
  calibrate();
}

void DeviceCompute::launch(std::uint64_t ticks) {
  const Driver& driver = device_.driver();
  void* parameters[] = {&ticks};
  driver.check(
      driver.call.launch(kernel_, blocks_, 1, 1, threads, 1, 1, 0, stream_.get(), parameters, nullptr),
      "launching a compute phase");
  device_.record(ended_, stream_);
}

std::int64_t DeviceCompute::time(std::uint64_t ticks) {
  const std::int64_t begin = clock_.now();
  launch(ticks);
  while (!device_.reached(ended_)) {
  }
  return clock_.now() - begin;
}

void DeviceCompute::calibrate() {
  constexpr int warm_up = 3;
  for (int i = 0; i < warm_up; ++i) time(0);
  std::array<std::int64_t, 21> times{};
  for (std::int64_t& one : times) one = time(0);
  std::ranges::nth_element(times, times.begin() + times.size() / 2);
  overhead_ = times[times.size() / 2];
  tried_ = time(ticks_for(trial));
  // What comes before and after the kernel may be shorter this time, the kernel may not: then the clock's rate is wrong.
  if (const std::int64_t kernel = trial - overhead_; tried_ < kernel - kernel / 100)
    throw std::runtime_error(fmt::format("{}: a kernel that was to take {} took {}", device_.name(),
                                         to_text(Seconds{trial * 1e-9}),
                                         to_text(Seconds{double(tried_) * 1e-9})));
}

std::uint64_t DeviceCompute::ticks_for(std::int64_t asked) const {
  return std::uint64_t(double(std::max<std::int64_t>(asked - overhead_, 0)) / tick_);
}

Outcome DeviceCompute::run(std::int64_t begin, std::int64_t asked) {
  if (asked <= 0) return {begin, begin};
  launch(ticks_for(asked));
  await(begin + asked);
  const std::int64_t end = clock_.now();
  record(end - begin - asked, asked);
  return {end, end};
}

// Sleeps to shortly before the expected end, as there may be others for the core, and looks from then on.
void DeviceCompute::await(std::int64_t expected) {
  constexpr std::int64_t margin = ExactCompute::spin_margin;
  for (std::int64_t left = expected - clock_.now(); left > margin; left = expected - clock_.now()) {
    const bool polling = progress_ && progress_->wanted();
    if (polling) progress_->poll();
    clock_.sleep(polling ? poll_interval / 2 : left - margin);
  }
  for (std::int64_t polled = clock_.now(); !device_.reached(ended_);) {
    if (shares_cores_) clock_.yield();
    // It may be late.
    if (progress_ && progress_->wanted() && clock_.now() - polled > poll_interval) {
      progress_->poll();
      polled = clock_.now();
    }
  }
}

std::string DeviceCompute::description() const {
  return fmt::format(
      "compute phases are kernels: {} of {} multiprocessors of {}, a block of {} threads for each; on rank 0 "
      "the end "
      "of an empty one is seen {} after its launch, which is taken off, and one of {} took {}",
      std::min(int(blocks_), multiprocessors_), multiprocessors_, device_.name(), threads,
      to_text(Seconds{double(overhead_) * 1e-9}), to_text(Seconds{double(trial) * 1e-9}),
      to_text(Seconds{double(tried_) * 1e-9}));
}

}  // namespace dlnb::gpu
