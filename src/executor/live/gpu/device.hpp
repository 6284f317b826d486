// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "executor/live/gpu/driver.hpp"
#include "executor/live/handle.hpp"

namespace dlnb::gpu {

using OwnedStream = Handle<Stream, Status>;
using OwnedEvent = Handle<Event, Status>;
using OwnedModule = Handle<Module, Status>;
using DeviceMemory = Handle<Address, Status>;
using HostMemory = Handle<void*, Status>;

/// One accelerator that this process works on. All failures throw std::runtime_error.
class Device {
 public:
  Device(const Driver& driver, int ordinal);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const Driver& driver() const { return driver_; }
  std::string name() const;
  /// On the PCI bus, "0000:3b:00.0".
  std::string address() const { return address_of(driver_, ordinal_); }
  static std::string address_of(const Driver& driver, int ordinal);
  int multiprocessors() const;  ///< "compute units" of AMD's
  double clock_tick() const;    ///< ns, of the clock that spin_kernel.hpp's kernel looks at
  std::int64_t free_memory() const;

  /// From now on the calling thread's calls are for this device. Of the constructing thread they are.
  void use() const;

  OwnedStream stream() const;
  OwnedEvent event() const;
  /// Zeroed.
  DeviceMemory memory(std::int64_t bytes) const;
  /// Pinned, so that copies to and from it run beside the host.
  HostMemory host_memory(std::int64_t bytes) const;

  void record(const OwnedEvent& event, const OwnedStream& stream) const {
    driver_.check(driver_.call.event_record(event.get(), stream.get()), "recording an event");
  }
  bool reached(const OwnedEvent& event) const {
    const Status status = driver_.call.event_query(event.get());
    if (status == Status::not_ready) return false;
    driver_.check(status, "work on the device");
    return true;
  }
  void finish(const OwnedStream& stream) const {
    driver_.check(driver_.call.stream_synchronize(stream.get()), "work on the device");
  }

 private:
  int attribute(Attribute attribute, std::string_view what) const;

  const Driver& driver_;
  const int ordinal_;
  Context context_ = nullptr;
};

}  // namespace dlnb::gpu
