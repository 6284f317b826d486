// SPDX-License-Identifier: Apache-2.0
// Copies to and from the device are complete before a transfer is given to the library or its result is read: MPI knows
// no streams. Nothing else is at work on these buffers.
#include "executor/live/gpu/device_buffers.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <stdexcept>

#include <dlnb/error.hpp>

#include "executor/live/compute.hpp"
#include "executor/live/first_rank.hpp"
#include "executor/live/gpu/places.hpp"
#include "executor/live/watchdog.hpp"

namespace dlnb::gpu {
namespace {

std::byte* pointer(Address address) { return std::bit_cast<std::byte*>(address); }
Address address(const std::byte* pointer) { return std::bit_cast<Address>(pointer); }

bool adds_up(OperationKind kind) {
  return kind == OperationKind::all_reduce || kind == OperationKind::reduce_scatter;
}

std::string_view word_of(DataType dtype) {
  switch (dtype) {
    case DataType::float32: return "float32";
    case DataType::float16: return "float16";
    case DataType::bfloat16: return "bfloat16";
    case DataType::float8: return "float8";
  }
  return "";
}

/// What the first rank has to say that has anything to say.
std::string first_said(const Control& control, const std::string& own) {
  const std::vector<std::string> all = control.gather(own);
  return agree(control, [&] {
    const auto place = std::ranges::find_if(all, [](const std::string& text) { return !text.empty(); });
    return place == all.end() ? std::string() : *place;
  });
}

/// A library that reads an accelerator's memory as the host's ends with a signal. While this lives, the process says why
/// and ends as where something is absent: after such a signal the library is good for nothing.
class FaultsAreExplained {
 public:
  explicit FaultsAreExplained(const std::string& text) {
    length_ = std::min(text.size(), text_.size());
    std::memcpy(text_.data(), text.data(), length_);
    struct sigaction action{};
    action.sa_handler = explain;
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &action, &before_[i]);
  }
  ~FaultsAreExplained() {
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
  }
  FaultsAreExplained(const FaultsAreExplained&) = delete;
  FaultsAreExplained& operator=(const FaultsAreExplained&) = delete;

 private:
  static constexpr std::array<int, 2> signals{SIGSEGV, SIGBUS};

  [[noreturn]] static void explain(int) {
    if (::write(STDERR_FILENO, text_.data(), length_) < 0) _exit(int(Exit::unavailable));
    _exit(int(Exit::unavailable));
  }

  inline static std::array<char, 1024> text_{};
  inline static std::size_t length_ = 0;
  std::array<struct sigaction, signals.size()> before_{};
};

}  // namespace

DeviceBuffers::DeviceBuffers(Transport& library, const Driver& driver, std::unique_ptr<const Device>& device,
                             const DeviceBuffersOptions& options)
    : library_(library), options_(options), control_(library) {
  workers_.resize(1);  // the communicator of `control_`, whose data is on the host
  take_device(driver, device);
  ask_library();
  if (options_.blocking_collectives_only)
    remarks_.push_back(
        fmt::format("non-blocking collectives of {} do not take an accelerator's memory: a thread for every "
                    "communicator carries them out by blocking ones",
                    library_.library()));
}

void DeviceBuffers::take_device(const Driver& driver, std::unique_ptr<const Device>& device) {
  const std::vector<std::string> offers = control_.gather(packed_offer(driver));
  std::vector<int> devices(static_cast<std::size_t>(size()));
  const std::string problem = agree(control_, [&] {
    std::vector<Offer> unpacked;
    for (const std::string& offer : offers) unpacked.push_back(unpacked_offer(offer));
    const Places places = choose_devices(unpacked);
    if (places.problem.empty()) devices = places.devices;
    return places.problem;
  });
  if (!problem.empty()) throw UserError("--ranks", problem, "use fewer ranks or more hosts");
  devices = control_.broadcast_values(std::move(devices));

  std::string failure;
  try {
    device = std::make_unique<const Device>(driver, devices[std::size_t(rank())]);
    device_ = device.get();
    copies_ = device_->stream();
  } catch (const std::runtime_error& error) {
    failure = fmt::format("rank {}: {}", rank(), error.what());
  }
  if (const std::string first = first_said(control_, failure); !first.empty())
    throw Unavailable("--buffers", first, "use --buffers host");
}

void DeviceBuffers::ask_library() {
  using Takes = MemoryAnswer::Takes;
  const std::string_view runtime = device_->driver().title;
  const MemoryAnswer answer = library_.takes_memory_of(runtime);
  const std::string refusal = answer.takes != Takes::no
                                  ? std::string()
                                  : fmt::format("{} does not take {} memory ({} says so on rank {})",
                                                library_.library(), runtime, answer.asked, rank());
  if (const std::string first = first_said(control_, refusal); !first.empty())
    throw Unavailable("--buffers", first, std::string(options_.how));
  const std::string unsure = answer.takes == Takes::yes ? "" : "not told";
  const bool all_sure = first_said(control_, unsure).empty();
  remarks_.push_back(fmt::format(
      "buffers are {} memory, which {} takes: {}", runtime, library_.library(),
      all_sure ? fmt::format("{} says so", answer.asked)
               : "it has no function that tells, so one element was sent from every rank to the next before; "
                 "longer messages may still be handled otherwise"));
  if (!all_sure) try_message();
}

// To the next rank, from the previous one. One element: where the library does not know this memory it faults or fails.
void DeviceBuffers::try_message() {
  const std::string why = fmt::format(
      "--buffers: {} does not take {} memory: it has no function that tells, and a message of one element "
      "from "
      "the device of rank {} ",
      library_.library(), device_->driver().title, rank());
  const auto said = [&](std::string_view end) { return fmt::format("{}{}\n{}", why, end, options_.how); };
  std::byte* const sent = allocate(sizeof(float));
  std::byte* const received = allocate(sizeof(float));
  const int next = (rank() + 1) % size(), previous = (rank() + size() - 1) % size();
  const auto value_of = [](int rank) { return float(rank + 1); };
  const float own = value_of(rank());
  float got = 0;
  write(sent, reinterpret_cast<const std::byte*>(&own), sizeof own);
  library_.reserve(1);
  {
    // Where one rank ends so, a launcher ends the others before they can say anything.
    const ForetoldExit foretold{int(Exit::unavailable)};
    const FaultsAreExplained guard("error: " + said("ended with a fault") + "\n");
    Watchdog watchdog(options_.patience, [&](int, double seconds) {
      library_.abort(int(Exit::unavailable), said(fmt::format("has not arrived in {:.1f} s", seconds)));
    });
    watchdog.enter(0, monotonic_clock().now());
    try {
      library_.start(0, {.kind = OperationKind::recv,
                         .dtype = DataType::float32,
                         .communicator = control_.communicator(),
                         .peer = previous,
                         .receive = received,
                         .elements_received = 1});
      library_.run({.kind = OperationKind::send,
                    .dtype = DataType::float32,
                    .communicator = control_.communicator(),
                    .peer = next,
                    .send = sent,
                    .elements_sent = 1});
      library_.wait(0);
    } catch (const std::runtime_error& error) {
      // The others wait for it.
      library_.abort(int(Exit::unavailable), said(fmt::format("failed: {}", error.what())));
    }
    watchdog.leave();
  }
  read(reinterpret_cast<std::byte*>(&got), received, sizeof got);
  release(sent), release(received);
  const std::string wrong = got == value_of(previous)
                                ? std::string()
                                : fmt::format("rank {} got {} for {}", rank(), got, value_of(previous));
  if (const std::string first = first_said(control_, wrong); !first.empty())
    throw Unavailable("--buffers",
                      fmt::format("{} does not take {} memory: of messages of one element, {}",
                                  library_.library(), device_->driver().title, first),
                      std::string(options_.how));
}

std::string DeviceBuffers::library() const {
  return fmt::format("{}, {} buffers", library_.library(), device_->driver().title);
}

std::string DeviceBuffers::lacks(OperationKind kind, DataType dtype, std::int64_t elements) const {
  std::string reason = library_.lacks(kind, dtype, elements);
  if (!reason.empty() || !adds_up(kind) || library_.adds_up_itself(dtype, elements)) return reason;
  const std::string what = dtype == DataType::float32
                               ? fmt::format("{} elements of float32 at once", elements)
                               : std::string(word_of(dtype));
  return fmt::format(
      "{} does not itself add up {}, and the sums of this program are made on the host, which cannot reach "
      "{} "
      "memory",
      library_.library(), what, device_->driver().title);
}

int DeviceBuffers::communicator(std::span<const int> members) {
  const int number = library_.communicator(members);
  workers_.resize(std::max(workers_.size(), std::size_t(number) + 1));
  if (options_.blocking_collectives_only)
    workers_[std::size_t(number)] = std::make_unique<Worker>(
        [this](const Transfer& transfer) { library_.run(transfer); }, [this] { device_->use(); });
  return number;
}

std::byte* DeviceBuffers::allocate(std::int64_t bytes) {
  DeviceMemory memory = device_->memory(std::max<std::int64_t>(bytes, 1));
  std::byte* const begin = pointer(memory.get());
  memory_.emplace(begin, std::move(memory));
  return begin;
}

void DeviceBuffers::write(std::byte* memory, const std::byte* host, std::int64_t bytes) {
  if (bytes == 0) return;
  const Driver& driver = device_->driver();
  driver.check(driver.call.to_device(address(memory), host, std::size_t(bytes), copies_.get()),
               "copying to the device");
  device_->finish(copies_);
}

void DeviceBuffers::read(std::byte* host, const std::byte* memory, std::int64_t bytes) {
  if (bytes == 0) return;
  const Driver& driver = device_->driver();
  driver.check(driver.call.to_host(host, address(memory), std::size_t(bytes), copies_.get()),
               "copying from the device");
  device_->finish(copies_);
}

// The driver's calls, and so the library's, are for the device that a thread has chosen.
void DeviceBuffers::enter_thread() const {
  thread_local const Device* chosen = nullptr;
  if (chosen == device_) return;
  device_->use();
  chosen = device_;
}

/// Null where the library carries it out itself.
Worker* DeviceBuffers::worker_of(const Transfer& transfer) const {
  return transfer.on_host || is_message(transfer.kind) ? nullptr
                                                       : workers_[std::size_t(transfer.communicator)].get();
}

void DeviceBuffers::reserve(int slots) {
  library_.reserve(slots);
  while (slots_.size() < std::size_t(slots) + 1) slots_.emplace_back();
}

void DeviceBuffers::start(int slot, const Transfer& transfer) {
  Slot& place = slots_[std::size_t(slot)];
  Worker* const worker = worker_of(transfer);
  place.at_worker = worker != nullptr;
  if (worker) worker->start(transfer, place.completion);
  else library_.start(slot, transfer);
}

bool DeviceBuffers::test(int slot) {
  Slot& place = slots_[std::size_t(slot)];
  if (!place.at_worker) {
    enter_thread();
    return library_.test(slot);
  }
  if (!place.completion.is_there()) return false;
  place.completion.settle();
  return true;
}

void DeviceBuffers::wait(int slot) {
  Slot& place = slots_[std::size_t(slot)];
  if (place.at_worker) place.completion.settle();
  else library_.wait(slot);
}

void DeviceBuffers::run(const Transfer& transfer) {
  Worker* const worker = worker_of(transfer);
  if (worker) worker->run(transfer);
  else library_.run(transfer);
}

void DeviceBuffers::repeat(const Transfer& transfer, int times, std::atomic<std::uint32_t>& begun) {
  Worker* const worker = worker_of(transfer);
  if (!worker || worker->idle()) library_.repeat(transfer, times, begun);
  else Transport::repeat(transfer, times, begun);
}

}  // namespace dlnb::gpu
