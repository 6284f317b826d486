// SPDX-License-Identifier: Apache-2.0
#include "executor/live/core_claims.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace dlnb {
namespace {

// Behind the hardware threads: held while somebody chooses.
constexpr std::int64_t choosing = CPU_SETSIZE;

// Locks belong to the open file, not to the process: threads of one program exclude each other too.
bool set_lock(int file, short type, std::int64_t byte) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

// Choosing takes microseconds; a run that was stopped in the middle of it must not stop all others.
bool begin_choosing(int file) {
  constexpr int tries = 1000;
  for (int i = 0; i < tries; ++i) {
    if (set_lock(file, F_WRLCK, choosing)) return true;
    if (errno != EAGAIN && errno != EACCES) return false;
    usleep(1000);
  }
  return false;
}

bool is_locked(int file, std::int64_t byte) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

// Other users' runs use the same file. It is not created by the first call, because the kernel may refuse that
// flag for somebody else's file in a folder everybody can write to (fs.protected_regular).
int open_common(const char* name) {
  constexpr int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  for (int tries = 0; tries < 3; ++tries) {
    if (const int file = open(name, flags); file >= 0 || errno != ENOENT) return file;
    if (const int file = open(name, flags | O_CREAT | O_EXCL, 0666); file >= 0) {
      fchmod(file, 0666);  // whatever the umask
      return file;
    }
    if (errno != EEXIST) return -1;
  }
  return -1;
}

}  // namespace

CoreClaims::CoreClaims(const std::filesystem::path& file) : file_(open_common(file.c_str())) {
  if (file_ < 0) problem_ = fmt::format("{}: {}", file.string(), std::strerror(errno));
}

CoreClaims::~CoreClaims() {
  if (file_ >= 0) close(file_);
}

CoreClaims::CoreClaims(CoreClaims&& other) noexcept
    : file_(std::exchange(other.file_, -1)), problem_(std::move(other.problem_)) {}

std::vector<std::size_t> CoreClaims::take(std::span<const Core> cores, std::size_t wanted) {
  if (file_ < 0) return {};
  if (!begin_choosing(file_)) {
    problem_ = fmt::format("its lock cannot be had: {}", std::strerror(errno));
    return {};
  }
  std::vector<std::size_t> free, chosen;
  for (std::size_t core = 0; core < cores.size(); ++core)
    if (lock(cores[core].threads)) free.push_back(core);
  if (wanted <= free.size())
    for (std::size_t i = 0; i < wanted; ++i) chosen.push_back(free[i * free.size() / wanted]);
  for (const std::size_t core : free)
    if (!std::ranges::binary_search(chosen, core)) unlock(cores[core].threads);
  set_lock(file_, F_UNLCK, choosing);
  return chosen;
}

std::size_t CoreClaims::taken(std::span<const Core> cores) const {
  return std::size_t(std::ranges::count_if(cores, [&](const Core& core) {
    for (std::size_t cpu = 0; cpu < core.threads.size(); ++cpu)
      if (core.threads[cpu] && file_ >= 0 && is_locked(file_, std::int64_t(cpu))) return true;
    return false;
  }));
}

bool CoreClaims::lock(const Cpus& threads) {
  for (std::size_t cpu = 0; cpu < threads.size(); ++cpu) {
    if (!threads[cpu] || set_lock(file_, F_WRLCK, std::int64_t(cpu))) continue;
    for (std::size_t before = 0; before < cpu; ++before)
      if (threads[before]) set_lock(file_, F_UNLCK, std::int64_t(before));
    return false;
  }
  return true;
}

void CoreClaims::unlock(const Cpus& threads) {
  for (std::size_t cpu = 0; cpu < threads.size(); ++cpu)
    if (threads[cpu]) set_lock(file_, F_UNLCK, std::int64_t(cpu));
}

}  // namespace dlnb
