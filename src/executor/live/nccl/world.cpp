// SPDX-License-Identifier: Apache-2.0
#include "executor/live/nccl/world.hpp"

#include <fmt/format.h>

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

// Host name, boot id, then the addresses.
std::string packed(const gpu::Driver& driver) {
  const std::string identity = facts_of_this_host().identity.data();
  std::string text = identity;
  for (int device = 0; device < driver.devices; ++device)
    text += ' ' + gpu::Device::address_of(driver, device);
  return text;
}

Offer unpacked(const std::string& text) {
  std::istringstream stream(text);
  Offer offer;
  stream >> offer.host >> offer.machine;
  for (std::string address; stream >> address;) offer.devices.push_back(address);
  return offer;
}

constexpr std::string_view refused = "refused ";

std::string decide(const World& world) {
  std::vector<Offer> offers;
  for (int rank = 0; rank < world.size(); ++rank)
    offers.push_back(unpacked(world.hear(fmt::format("device-{}", rank))));
  const Places places = choose_devices(offers);
  if (!places.problem.empty()) return std::string(refused) + places.problem;
  return fmt::format("{}", fmt::join(places.devices, " "));
}

/// The device of this rank.
int settle(const World& world, const gpu::Driver& driver) {
  world.tell(fmt::format("device-{}", world.rank()), packed(driver));
  if (world.rank() == 0) world.tell("devices", decide(world));
  const std::string decision = world.hear("devices");
  if (decision.starts_with(refused))
    throw UserError("--ranks", decision.substr(refused.size()), "use fewer ranks or more hosts");
  std::istringstream stream(decision);
  int device = 0;
  for (int rank = 0; rank <= world.rank(); ++rank) stream >> device;
  return device;
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
  if (!store.empty()) store_.emplace(store);
}

void World::tell(const std::string& key, std::string_view value) const { store_->set(key, value); }

std::string World::hear(const std::string& key) const { return store_->get(key, patience_); }

void open(const Library& library, const WorldOptions& options, const std::function<void(Transport&)>& body) {
  const ModuleOptions place = options_of_this_world(options);
  const World world(place.rank, place.size, place.store, std::chrono::seconds(60));
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
