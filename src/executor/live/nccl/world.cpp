// SPDX-License-Identifier: Apache-2.0
#include "executor/live/nccl/world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <vector>

#include <dlnb/error.hpp>

#include "executor/live/gpu/places.hpp"
#include "executor/live/modules.hpp"
#include "executor/live/nccl/transport.hpp"

namespace dlnb::nccl {
namespace {

constexpr std::string_view refused = "refused ", loopback = "loopback";

std::string decide(const World& world) {
  std::vector<gpu::Offer> offers;
  for (int rank = 0; rank < world.size(); ++rank)
    offers.push_back(gpu::unpacked_offer(world.hear(fmt::format("device-{}", rank))));
  const gpu::Places places = gpu::choose_devices(offers);
  if (!places.problem.empty()) return std::string(refused) + places.problem;
  const bool one_network = std::ranges::all_of(offers, [&](const gpu::Offer& offer) {
    return offer.machine == offers[0].machine && offer.network == offers[0].network;
  });
  return fmt::format("{} {}", one_network ? loopback : "any", fmt::join(places.devices, " "));
}

/// The device of this rank.
int settle(const World& world, const gpu::Driver& driver) {
  world.tell(fmt::format("device-{}", world.rank()), gpu::packed_offer(driver));
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
