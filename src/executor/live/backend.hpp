// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <dlnb/registry.hpp>

#include "executor/live/transport.hpp"

namespace dlnb {

/// Whose memory a rank's buffers are: the host's, or an accelerator's by CUDA or HIP.
enum class MemoryKind : std::uint8_t { host, cuda, hip };
/// "host", "cuda", "hip"
std::string_view name_of(MemoryKind memory);

inline constexpr MemoryKind host_memory_only[] = {MemoryKind::host};

/// What a world is opened for.
struct WorldOptions {
  std::int64_t ranks = 1;      ///< of the schedule
  bool second_thread = false;  ///< a helper thread tests while the rank computes
  Seconds watchdog{60};        ///< longest wait of a rank; 0: no limit
  MemoryKind buffers = MemoryKind::host;
};

/// What is to be started.
struct LaunchRequest {
  std::int64_t ranks = 1;
  bool second_thread = false;      ///< a rank has a second thread that wants a core
  std::vector<std::string> hosts;  ///< ranks are dealt out to them in blocks; empty: this host
  std::string agent;               ///< called as `agent HOST COMMAND…` to start something on a host
};

/// How to start the ranks of a backend as processes.
struct Launcher {
  /// Program and flags; the rank's own command follows. Empty: we start the ranks ourselves.
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
};

/// A communication library. One file each in backends/.
struct Backend {
  std::string_view name;
  std::string_view summary;
  /// Why it cannot be used here and what to install; empty where it can.
  std::string (*missing)();
  /// Runs `body` for every rank that lives in this process, each with its end of the world, and returns when
  /// all have. Rethrows the first failure after the other local ranks were released.
  void (*open)(const WorldOptions& options, const std::function<void(Transport&)>& body);
  /// Null where ranks need no processes of their own.
  Launcher (*launcher)(const LaunchRequest& request);
  /// Where buffers can be, the usual place first.
  std::span<const MemoryKind> memories = host_memory_only;
};
namespace backends {
Registry<Backend> all();
}

/// The backend called so; throws UserError (unknown) or Unavailable (absent, with what to install).
const Backend& usable_backend(std::string_view name);
/// Where its buffers are to be: `auto`, or one of its memories. Throws UserError where it has no such, and Unavailable
/// where there is no accelerator for them.
MemoryKind buffers_of(const Backend& backend, std::string_view word);
/// Throws UserError where compute phases cannot be emulated there: kernels need buffers on a device.
void check_compute(std::string_view compute, const Backend& backend, MemoryKind buffers);
/// Why no accelerator's memory can be had by CUDA or HIP; empty where it can.
std::string missing(MemoryKind memory);

}  // namespace dlnb
