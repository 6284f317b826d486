// SPDX-License-Identifier: Apache-2.0
#include "executor/live/nccl/world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <vector>

#include <dlnb/error.hpp>

#include "executor/live/gpu/device.hpp"
#include "executor/live/hosts.hpp"
#include "executor/live/modules.hpp"
#include "executor/live/nccl/places.hpp"
#include "executor/live/nccl/transport.hpp"

namespace dlnb::nccl {
namespace {

// Host name, boot id, network namespace, then the addresses.
std::string packed(const gpu::Driver& driver) {
  const std::string identity = facts_of_this_host().identity.data();
  std::error_code failure;
  const std::string network = std::filesystem::read_symlink("/proc/self/ns/net", failure).string();
  std::string text = identity + ' ' + (network.empty() ? "unknown" : network);
  for (int device = 0; device < driver.devices; ++device)
    text += ' ' + gpu::Device::address_of(driver, device);
  return text;
}

Offer unpacked(const std::string& text) {
  std::istringstream stream(text);
  Offer offer;
  stream >> offer.host >> offer.machine >> offer.network;
  for (std::string address; stream >> address;) offer.devices.push_back(address);
  return offer;
}

constexpr std::string_view refused = "refused ", loopback = "loopback";

std::string decide(const World& world) {
  std::vector<Offer> offers;
  for (int rank = 0; rank < world.size(); ++rank)
    offers.push_back(unpacked(world.hear(fmt::format("device-{}", rank))));
  const Places places = choose_devices(offers);
  if (!places.problem.empty()) return std::string(refused) + places.problem;
  const bool one_network = std::ranges::all_of(offers, [&](const Offer& offer) {
    return offer.machine == offers[0].machine && offer.network == offers[0].network;
  });
  return fmt::format("{} {}", one_network ? loopback : "any", fmt::join(places.devices, " "));
}

/// The device of this rank.
int settle(const World& world, const gpu::Driver& driver) {
  world.tell(fmt::format("device-{}", world.rank()), packed(driver));
  if (world.rank() == 0) world.tell("devices", decide(world));
  const std::string decision = world.hear("devices");
  if (decision.starts_with(refused))
    throw UserError("--ranks", decision.substr(refused.size()), "use fewer ranks or more hosts");
  std::istringstream stream(decision);
  std::string network;
  stream >> network;
  // Nothing listens beyond this host unasked.
  if (network == loopback) setenv("NCCL_SOCKET_IFNAME", "lo", 0);
  int device = 0;
  for (int rank = 0; rank <= world.rank(); ++rank) stream >> device;
  return device;
}

/// Ranks may be started one after the other, and large worlds take their time.
std::chrono::milliseconds patience_of(const WorldOptions& options) {
  const double seconds = options.watchdog.value > 0 ? std::clamp(options.watchdog.value, 60.0, 1e6) : 1e6;
  return std::chrono::milliseconds(std::int64_t(seconds * 1e3));
}

std::unique_ptr<Transport> join(const Library& library, const World& world) try {
  const gpu::Driver& driver = gpu::driver_of(library.vendor);
  return make_transport(library, driver, settle(world, driver), world);
} catch (const Error&) {
  throw;
} catch (const std::runtime_error& error) {
  throw Unavailable("--backend", error.what());
}

}  // namespace

World::World(int rank, int size, const std::string& store, std::chrono::milliseconds patience)
    : rank_(rank), size_(size), patience_(patience) {
  if (!store.empty()) store_ = std::make_unique<const Store>(store);
}

void World::tell(const std::string& key, std::string_view value) const { store_->set(key, value); }

std::string World::hear(const std::string& key) const { return store_->get(key, patience_); }

void open(const Library& library, const WorldOptions& options, const std::function<void(Transport&)>& body) {
  const ModuleOptions place = options_of_this_world(options);
  const World world(place.rank, place.size, place.store, patience_of(options));
  const std::unique_ptr<Transport> transport = join(library, world);
  try {
    body(*transport);
  } catch (const Error&) {
    throw;  // all ranks have agreed on it and leave the world together
  } catch (const std::exception& error) {
    transport->abort(int(Exit::lost_rank),
                     fmt::format("rank {} failed: {}", transport->rank(), error.what()));
    throw;
  }
}

}  // namespace dlnb::nccl
