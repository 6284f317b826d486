// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>

#include "peer/simgrid.hpp"

namespace dlnb::peer {
namespace {

bool write_all(int file, const void* data, std::size_t size) {
  for (const char* at = static_cast<const char*>(data); size > 0;) {
    const ssize_t written = write(file, at, size);
    if (written <= 0) return false;
    at += written, size -= std::size_t(written);
  }
  return true;
}

bool read_all(int file, void* data, std::size_t size) {
  for (char* at = static_cast<char*>(data); size > 0;) {
    const ssize_t got = read(file, at, size);
    if (got <= 0) return false;
    at += got, size -= std::size_t(got);
  }
  return true;
}

}  // namespace

double cpu_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return double(used.tv_sec) + 1e-9 * double(used.tv_nsec);
}

std::optional<Outcome> in_own_process(double limit, std::vector<double> (*simulate)(void*, double& cpu),
                                      void* what) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) std::abort();
  if (child == 0) {
    close(ends[0]);
    const rlimit seconds{rlim_t(limit) + 1, rlim_t(limit) + 1};
    setrlimit(RLIMIT_CPU, &seconds);
    bool written = false;
    try {
      double cpu = 0;
      const std::vector<double> end = simulate(what, cpu);
      const std::uint64_t count = end.size();
      written = write_all(ends[1], &count, sizeof count) && write_all(ends[1], &cpu, sizeof cpu) &&
                write_all(ends[1], end.data(), count * sizeof(double));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  Outcome outcome;
  std::uint64_t count = 0;
  bool complete =
      read_all(ends[0], &count, sizeof count) && read_all(ends[0], &outcome.cpu, sizeof outcome.cpu);
  if (complete) {
    outcome.end.resize(count);
    complete = read_all(ends[0], outcome.end.data(), count * sizeof(double));
  }
  close(ends[0]);
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  outcome.peak_megabytes = double(used.ru_maxrss) * 1024e-6;
  if (!complete || status != 0) return std::nullopt;
  return outcome;
}

}  // namespace dlnb::peer
