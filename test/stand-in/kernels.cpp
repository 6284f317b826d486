// SPDX-License-Identifier: Apache-2.0
// The driver's modules, and kernels that take the time they are told.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>

#include "stand-in/device.hpp"

using dlnb::gpu::Kernel;
using dlnb::gpu::Module;

struct dlnb::gpu::OpaqueModule {
  std::string image;
};
struct dlnb::gpu::OpaqueKernel {
  std::string name;
};

namespace stand_in {
namespace {

struct State {
  std::mutex mutex;
  std::set<Module> modules;
  std::vector<std::unique_ptr<dlnb::gpu::OpaqueKernel>> kernels;
};
State& state() {
  static State* const only = new State;  // outlives every thread
  return *only;
}

struct Report {
  ~Report() {
    const std::lock_guard lock(state().mutex);
    record(fmt::format("left: modules={}", state().modules.size()));
  }
} report;

}  // namespace
}  // namespace stand_in

using namespace stand_in;

STAND_IN_EXPORT Status STAND_IN_NAME(cuModuleLoadData, hipModuleLoadData)(Module* module, const void* image) {
  if (!has_device()) return invalid_context;
  if (const char* const status = std::getenv("DLNB_STAND_IN_LOAD")) return Status{std::atoi(status)};
  const std::string text = static_cast<const char*>(image);
#ifdef STAND_IN_HIP
  if (!text.starts_with("code of ")) return Status{200};
#else
  if (text.find(".version ") == std::string::npos || text.find(".visible .entry ") == std::string::npos)
    return Status{218};
#endif
  *module = new dlnb::gpu::OpaqueModule{text};
  const std::lock_guard lock(state().mutex);
  state().modules.insert(*module);
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuModuleUnload, hipModuleUnload)(Module module) {
  const std::lock_guard lock(state().mutex);
  if (state().modules.erase(module) == 0) violation("a module is unloaded that is not there");
  delete module;
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuModuleGetFunction, hipModuleGetFunction)(Kernel* kernel, Module module,
                                                                                const char* name) {
  if (module->image.find(name) == std::string::npos) return Status{500};
  const std::lock_guard lock(state().mutex);
  state().kernels.push_back(std::make_unique<dlnb::gpu::OpaqueKernel>(dlnb::gpu::OpaqueKernel{name}));
  *kernel = state().kernels.back().get();
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuLaunchKernel, hipModuleLaunchKernel)(Kernel kernel, unsigned grid_x,
                                                                            unsigned, unsigned,
                                                                            unsigned block_x, unsigned,
                                                                            unsigned, unsigned, Stream stream,
                                                                            void** parameters, void**) {
  if (!has_device()) return invalid_context;
  if (!is_stream(stream)) return invalid_handle;
  std::uint64_t ticks = 0;
  std::memcpy(&ticks, parameters[0], sizeof ticks);
  const std::uint64_t nanoseconds = ticks * std::uint64_t(tick());
  enqueue(stream,
          {fmt::format("kernel {} grid={} block={} ns={}", kernel->name, grid_x, block_x, nanoseconds),
           [=] { std::this_thread::sleep_for(std::chrono::nanoseconds(nanoseconds)); },
           {}});
  return Status::success;
}
