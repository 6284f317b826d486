// SPDX-License-Identifier: Apache-2.0
#include "cli/host.hpp"

#include <sched.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace dlnb {
namespace {

namespace fs = std::filesystem;

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

double at(std::vector<std::int64_t> values, double fraction) {
  std::ranges::sort(values);
  return double(values[std::size_t(fraction * double(values.size() - 1))]) * 1e-9;
}

/// The number in a one-line file, or -1 ("max" of a control group included).
std::int64_t number_in(const fs::path& file) {
  std::ifstream stream(file);
  std::int64_t number = -1;
  return stream >> number ? number : -1;
}

std::int64_t meminfo(const std::string& key) {
  std::ifstream stream("/proc/meminfo");
  std::string name, unit;
  for (std::int64_t kibibytes = 0; stream >> name >> kibibytes; std::getline(stream, unit))
    if (name == key + ":") return kibibytes * 1024;
  return -1;
}

std::vector<std::string> folders_in(const char* variable) {
  std::vector<std::string> folders;
  const char* value = std::getenv(variable);
  std::istringstream stream(value ? value : "");
  for (std::string folder; std::getline(stream, folder, ':');)
    if (!folder.empty()) folders.push_back(folder);
  return folders;
}

int numbered_files(const fs::path& folder, const std::string& prefix) {
  int count = 0;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.size() > prefix.size() &&
        name.find_first_not_of("0123456789", prefix.size()) == std::string::npos)
      ++count;
  }
  return count;
}

}  // namespace

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, int(std::thread::hardware_concurrency()));
}

TimerQuality measure_timer() {
  TimerQuality quality;
  constexpr int readings = 10'000;
  std::vector<std::int64_t> steps;
  const std::int64_t begin = now();
  std::int64_t previous = begin;
  for (int i = 0; i < readings; ++i) {
    const std::int64_t time = now();
    if (time != previous) steps.push_back(time - previous);
    previous = time;
  }
  quality.reading = double(previous - begin) * 1e-9 / readings;
  timespec resolution{};
  clock_getres(CLOCK_MONOTONIC, &resolution);
  quality.resolution = steps.empty() ? double(resolution.tv_nsec) * 1e-9 : at(steps, 0);

  constexpr int sleeps = 60;
  constexpr std::int64_t asked = 200'000;
  std::vector<std::int64_t> late;
  for (int i = 0; i < sleeps; ++i) {
    const timespec nap{0, asked};
    const std::int64_t start = now();
    nanosleep(&nap, nullptr);
    late.push_back(now() - start - asked);
  }
  quality.sleep_overshoot = at(late, 0.5);
  quality.worst_overshoot = at(late, 0.95);
  return quality;
}

std::int64_t available_memory() {
  std::int64_t available = meminfo("MemAvailable");
  const std::int64_t limit = number_in("/sys/fs/cgroup/memory.max");
  const std::int64_t used = number_in("/sys/fs/cgroup/memory.current");
  if (limit >= 0 && used >= 0) {
    const std::int64_t left = std::max<std::int64_t>(0, limit - used);
    available = available < 0 ? left : std::min(available, left);
  }
  return available;
}

std::int64_t total_memory() { return meminfo("MemTotal"); }

std::vector<std::string> programs_found(const std::vector<std::string>& names) {
  std::vector<std::string> found;
  for (const std::string& name : names)
    for (const std::string& folder : folders_in("PATH")) {
      const fs::path file = fs::path(folder) / name;
      std::error_code failure;
      if (fs::is_regular_file(file, failure) && access(file.c_str(), X_OK) == 0) {
        found.push_back(file.string());
        break;
      }
    }
  return found;
}

std::vector<std::string> libraries_found(const std::string& prefix) {
  std::vector<std::string> folders = folders_in("LD_LIBRARY_PATH");
  for (const char* usual : {"/usr/local/lib", "/usr/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu",
                            "/usr/lib/aarch64-linux-gnu"})
    folders.emplace_back(usual);
  std::vector<std::string> found;
  for (const std::string& folder : folders) {
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator(folder, failure))
      if (entry.path().filename().string().starts_with(prefix))
        found.push_back(fs::weakly_canonical(entry.path(), failure).string());
  }
  std::ranges::sort(found);
  const auto repeated = std::ranges::unique(found);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

std::string accelerators_found() {
  std::string found;
  if (const int nvidia = numbered_files("/dev", "nvidia")) found = std::to_string(nvidia) + " NVIDIA";
  std::error_code failure;
  if (fs::exists("/dev/kfd", failure))
    found += (found.empty() ? "" : ", ") + std::to_string(numbered_files("/dev/dri", "renderD")) + " AMD";
  return found;
}

}  // namespace dlnb
