// SPDX-License-Identifier: Apache-2.0
#include "executor/live/gpu/device.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace dlnb::gpu {

Device::Device(const Driver& driver, int ordinal) : driver_(driver), ordinal_(ordinal) {
  // The context that the CUDA runtime, and with it the communication library, uses as well.
  if (driver_.call.context_retain)
    driver_.check(driver_.call.context_retain(&context_, ordinal_), "opening the device");
  use();
}

Device::~Device() {
  if (context_) driver_.call.context_release(ordinal_);
}

std::string Device::name() const {
  std::array<char, 256> text{};
  driver_.check(driver_.call.device_name(text.data(), int(text.size()) - 1, ordinal_), "asking for a name");
  return text.data();
}

std::string Device::address_of(const Driver& driver, int ordinal) {
  std::array<char, 32> text{};
  driver.check(driver.call.device_address(text.data(), int(text.size()) - 1, ordinal),
               "asking for an address");
  std::string address = text.data();
  std::ranges::transform(address, address.begin(),
                         [](char c) { return c >= 'A' && c <= 'F' ? char(c + 32) : c; });
  return address;
}

int Device::attribute(Attribute attribute, std::string_view what) const {
  int value = 0;
  driver_.check(driver_.call.device_attribute(&value, attribute, ordinal_), what);
  return value;
}

int Device::multiprocessors() const {
  return attribute(
      driver_.title == "CUDA" ? Attribute::multiprocessors_of_cuda : Attribute::multiprocessors_of_hip,
      "asking for multiprocessors");
}

// %globaltimer counts nanoseconds.
double Device::clock_tick() const {
  if (driver_.title == "CUDA") return 1;
  const int kilohertz = attribute(Attribute::wall_clock_kilohertz_of_hip,
                                  "asking for the rate of wall_clock64 (ROCm 6 has it)");
  if (kilohertz <= 0)
    throw std::runtime_error("HIP: the rate of wall_clock64 is given as " + std::to_string(kilohertz));
  return 1e6 / kilohertz;
}

std::int64_t Device::free_memory() const {
  std::size_t free = 0, total = 0;
  driver_.check(driver_.call.memory_info(&free, &total), "asking for free memory");
  return std::int64_t(free);
}

void Device::use() const {
  if (context_) driver_.check(driver_.call.context_set(context_), "choosing the device");
  else driver_.check(driver_.call.device_set(ordinal_), "choosing the device");
}

OwnedStream Device::stream() const {
  Stream stream{};
  driver_.check(driver_.call.stream_create(&stream, stream_non_blocking), "making a stream");
  return {stream, driver_.call.stream_destroy};
}

OwnedEvent Device::event() const {
  Event event{};
  driver_.check(driver_.call.event_create(&event, event_without_time), "making an event");
  return {event, driver_.call.event_destroy};
}

DeviceMemory Device::memory(std::int64_t bytes) const {
  Address address{};
  driver_.check(driver_.call.allocate(&address, std::size_t(bytes)),
                "allocating " + std::to_string(bytes) + " bytes");
  DeviceMemory memory(address, driver_.call.release);
  const OwnedStream copies = stream();
  driver_.check(driver_.call.fill(address, 0, std::size_t(bytes), copies.get()), "clearing memory");
  finish(copies);
  return memory;
}

HostMemory Device::host_memory(std::int64_t bytes) const {
  void* memory = nullptr;
  driver_.check(driver_.call.allocate_host(&memory, std::size_t(bytes), 0), "allocating pinned memory");
  return {memory, driver_.call.release_host};
}

}  // namespace dlnb::gpu
