// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <dlnb/schedule.hpp>
#include <dlnb/units.hpp>

namespace dlnb {

namespace gpu {
class Device;
}

/// One movement of data as a communication library sees it. Elements follow Operation's conventions:
/// all-gather sends its shard and receives n shards, reduce-scatter the reverse, all-to-all n parts both
/// ways. Broadcast works in place: `receive` is read or written. Others do where the library can and the buffers say so:
/// all-reduce and all-to-all where `send` is `receive`, all-gather where `send` is this member's shard of `receive`,
/// reduce-scatter where `receive` is the shard `shard_in_place` of `send`.
struct Transfer {
  OperationKind kind = OperationKind::barrier;
  DataType dtype = DataType::float32;
  int communicator = 0;
  int peer = 0;  ///< member of the communicator: destination, source, or root of a broadcast
  int tag = 0;   ///< messages only; messages of one tag between two ranks arrive in the order sent
  const std::byte* send = nullptr;
  std::byte* receive = nullptr;
  std::int64_t elements_sent = 0;
  std::int64_t elements_received = 0;
  /// All-to-all in uneven parts: elements for and from every member, which follow each other in the buffers. Null where
  /// all parts are equal. They are there until the transfer is complete.
  const std::int64_t* parts_sent = nullptr;
  const std::int64_t* parts_received = nullptr;
  bool on_host = false;  ///< the buffers are not what `allocate` gave: what ranks tell each other besides
};

/// For a counter that one thread writes and others read.
inline void count_one(std::atomic<std::uint32_t>& counter) {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

/// What a library says of an accelerator's memory: whether its calls take addresses there.
struct MemoryAnswer {
  enum class Takes : std::uint8_t { no, yes, not_told } takes = Takes::no;
  std::string_view asked;  ///< the function that was asked; empty where there is none
};

/// One rank's end of a communication library. Header only and free of our other types' code, because
/// implementations may live in modules loaded at run time.
///
/// One thread uses a transport, except: `test` of started slots may run in one other thread where the world
/// was opened with `second_thread`, and `abort` may run in any thread. Failures of the library throw
/// std::runtime_error.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// "Open MPI 4.1.4"
  virtual std::string library() const = 0;
  /// Whether an all-reduce is better given one buffer than two.
  virtual bool reduces_in_place() const = 0;
  /// Whether the library carries this out in one buffer.
  virtual bool works_in_place(OperationKind kind) const {
    return kind == OperationKind::all_reduce || kind == OperationKind::broadcast;
  }
  /// Which shard of its buffer a reduce-scatter in place leaves at this member.
  virtual int shard_in_place(int member) const { return member; }
  /// Whether it carries out all-to-all in uneven parts.
  virtual bool takes_uneven_parts() const { return false; }
  /// Whether messages have tags; where not, all of them have tag 0.
  virtual bool takes_tags() const { return true; }

  /// PCI address of the accelerator it works on, "0000:3b:00.0"; empty: none.
  virtual std::string device() const { return {}; }
  /// That accelerator; null: none.
  virtual const gpu::Device* gpu() const { return nullptr; }

  /// Makes a communicator of these world ranks (ascending). Every member calls it, and calls for different
  /// communicators come in the same order everywhere. Returns its number, counting up from 0.
  virtual int communicator(std::span<const int> members) = 0;

  /// Messages will go to these members of the communicator and come from these, in what `allocate` gave. Called once
  /// for a communicator, before its first such message, by all whom one of them names.
  virtual void connect(int communicator, std::span<const int> destinations, std::span<const int> sources) {
    static_cast<void>(communicator), static_cast<void>(destinations), static_cast<void>(sources);
  }

  /// Why such a transfer cannot be carried out; empty where it can. `elements`: the larger of what a rank sends and
  /// receives.
  virtual std::string lacks(OperationKind kind, DataType dtype, std::int64_t elements) const {
    static_cast<void>(kind), static_cast<void>(dtype), static_cast<void>(elements);
    return {};
  }
  /// Whether the library itself adds up so many elements, wherever they are, and not a function of ours on the host.
  virtual bool adds_up_itself(DataType dtype, std::int64_t elements) const {
    static_cast<void>(dtype), static_cast<void>(elements);
    return false;
  }
  /// Of "CUDA" or "HIP".
  virtual MemoryAnswer takes_memory_of(std::string_view runtime) const {
    static_cast<void>(runtime);
    return {};
  }
  /// What a reader of the results has to know of it, besides its name.
  virtual std::vector<std::string> remarks() const { return {}; }
  /// Threads of its own that want a core while the rank computes.
  virtual int busy_threads() const { return 0; }
  /// Whether the first transfer of a kind may wait for the other members while it is being started.
  virtual bool connects_on_first_use() const { return false; }
  /// Bytes that `allocate` can still give, where that is not the host's memory; else −1.
  virtual std::int64_t device_memory() const { return -1; }

  /// Memory that transfers read and write, zeroed and touched; never empty, because libraries want an address
  /// also for empty messages. Here the host's; an accelerator's where a library wants that.
  virtual std::byte* allocate(std::int64_t bytes) {
    constexpr std::size_t page = 4096;
    const std::size_t size = (std::size_t(bytes) / page + 1) * page;
    void* const memory = std::aligned_alloc(page, size);
    if (!memory) throw std::bad_alloc();
    return static_cast<std::byte*>(std::memset(memory, 0, size));
  }
  virtual void release(std::byte* memory) noexcept { std::free(memory); }
  /// Copies between the host and such memory; returns when the copy is made.
  virtual void write(std::byte* memory, const std::byte* host, std::int64_t bytes) {
    if (bytes > 0) std::memcpy(memory, host, std::size_t(bytes));
  }
  virtual void read(std::byte* host, const std::byte* memory, std::int64_t bytes) {
    if (bytes > 0) std::memcpy(host, memory, std::size_t(bytes));
  }

  /// Ranks outnumber cores: from now on a waiting rank offers its core to the others.
  virtual void share_cores() {}

  /// How many non-blocking transfers may be outstanding; each has a slot, 0 … slots − 1.
  virtual void reserve(int slots) = 0;
  virtual void start(int slot, const Transfer& transfer) = 0;
  /// True once; the slot is free afterwards.
  virtual bool test(int slot) = 0;
  virtual void wait(int slot) = 0;
  virtual void run(const Transfer& transfer) = 0;
  /// The same transfer again and again; `begun` counts those that have begun. What does not change is found out once,
  /// before the loop.
  virtual void repeat(const Transfer& transfer, int times, std::atomic<std::uint32_t>& begun) {
    for (int i = 0; i < times; ++i) {
      count_one(begun);
      run(transfer);
    }
  }

  /// Ends the whole world: waiting ranks throw LostRank with `why`, or their processes end with `code` and say `why`
  /// unless it is empty.
  virtual void abort(int code, const std::string& why) = 0;

 protected:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
};

}  // namespace dlnb
