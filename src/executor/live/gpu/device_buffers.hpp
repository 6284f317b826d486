// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "executor/live/control.hpp"
#include "executor/live/gpu/device.hpp"
#include "executor/live/transport.hpp"
#include "executor/live/worker.hpp"

namespace dlnb::gpu {

struct DeviceBuffersOptions {
  /// What one has to do where the library does not take an accelerator's memory.
  std::string_view how;
  /// The library's non-blocking collectives do not take it, only its blocking ones. Several threads then use the
  /// library at once.
  bool blocking_collectives_only = false;
  Seconds patience{60};  ///< with a message that is tried
};

/// A rank of a library that takes addresses of an accelerator's memory, with its buffers there. What ranks tell each
/// other besides stays on the host.
class DeviceBuffers final : public Transport {
 public:
  /// Settles which device each rank takes and whether the library takes its memory, collectively: the same exception
  /// on all ranks. `device` outlives the library, which may have memory of its own on it until it is left.
  /// Throws Unavailable, and UserError where ranks outnumber accelerators.
  DeviceBuffers(Transport& library, const Driver& driver, std::unique_ptr<const Device>& device,
                const DeviceBuffersOptions& options);

  int rank() const override { return library_.rank(); }
  int size() const override { return library_.size(); }
  std::string library() const override;
  bool reduces_in_place() const override { return library_.reduces_in_place(); }
  bool works_in_place(OperationKind kind) const override { return library_.works_in_place(kind); }
  int shard_in_place(int member) const override { return library_.shard_in_place(member); }
  bool takes_uneven_parts() const override { return library_.takes_uneven_parts(); }
  bool takes_tags() const override { return library_.takes_tags(); }
  bool connects_on_first_use() const override { return true; }
  std::string device() const override { return device_->address(); }
  const Device* gpu() const override { return device_; }
  std::int64_t device_memory() const override { return device_->free_memory(); }
  std::string lacks(OperationKind kind, DataType dtype, std::int64_t elements) const override;
  std::vector<std::string> remarks() const override { return remarks_; }
  int busy_threads() const override { return options_.blocking_collectives_only ? 1 : 0; }

  int communicator(std::span<const int> members) override;
  void connect(int communicator, std::span<const int> destinations, std::span<const int> sources) override {
    library_.connect(communicator, destinations, sources);
  }

  std::byte* allocate(std::int64_t bytes) override;
  void release(std::byte* memory) noexcept override { memory_.erase(memory); }
  void write(std::byte* memory, const std::byte* host, std::int64_t bytes) override;
  void read(std::byte* host, const std::byte* memory, std::int64_t bytes) override;

  void share_cores() override { library_.share_cores(); }
  void reserve(int slots) override;
  void start(int slot, const Transfer& transfer) override;
  bool test(int slot) override;
  void wait(int slot) override;
  void run(const Transfer& transfer) override;
  void repeat(const Transfer& transfer, int times, std::atomic<std::uint32_t>& begun) override;
  void abort(int code, const std::string& why) override { library_.abort(code, why); }

 private:
  struct Slot {
    bool at_worker = false;
    Completion completion;
  };

  void take_device(const Driver& driver, std::unique_ptr<const Device>& device);
  void ask_library();
  void try_message();
  void enter_thread() const;
  Worker* worker_of(const Transfer& transfer) const;

  Transport& library_;
  const DeviceBuffersOptions options_;
  const Control control_;
  const Device* device_ = nullptr;
  OwnedStream copies_;
  std::vector<std::string> remarks_;
  std::map<std::byte*, DeviceMemory> memory_;
  std::deque<Slot> slots_;
  std::vector<std::unique_ptr<Worker>> workers_;  // by communicator
};

}  // namespace dlnb::gpu
