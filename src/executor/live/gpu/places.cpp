// SPDX-License-Identifier: Apache-2.0
#include "executor/live/gpu/places.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "executor/live/gpu/device.hpp"
#include "executor/live/hosts.hpp"

namespace dlnb::gpu {
namespace {

std::string shortage(const std::vector<Offer>& offers, const std::string& machine) {
  int ranks = 0;
  std::set<std::string> devices;
  std::string host;
  for (const Offer& offer : offers)
    if (offer.machine == machine) {
      ++ranks;
      host = offer.host;
      devices.insert(offer.devices.begin(), offer.devices.end());
    }
  return fmt::format("{} ranks on host {} and {} {} that they may use: every rank needs one of its own",
                     ranks, host, devices.size(), devices.size() == 1 ? "accelerator" : "accelerators");
}

}  // namespace

// Host name, boot id, network namespace, then the addresses.
std::string packed_offer(const Driver& driver) {
  const std::string identity = facts_of_this_host().identity.data();
  std::error_code failure;
  const std::string network = std::filesystem::read_symlink("/proc/self/ns/net", failure).string();
  std::string text = identity + ' ' + (network.empty() ? "unknown" : network);
  for (int device = 0; device < driver.devices; ++device) text += ' ' + Device::address_of(driver, device);
  return text;
}

Offer unpacked_offer(const std::string& text) {
  std::istringstream stream(text);
  Offer offer;
  stream >> offer.host >> offer.machine >> offer.network;
  for (std::string address; stream >> address;) offer.devices.push_back(address);
  return offer;
}

Places choose_devices(const std::vector<Offer>& offers) {
  Places places;
  std::map<std::string, std::set<std::string>> taken;
  for (const Offer& offer : offers) {
    std::set<std::string>& used = taken[offer.machine];
    std::size_t device = 0;
    while (device < offer.devices.size() && used.contains(offer.devices[device])) ++device;
    if (device == offer.devices.size()) {
      places.problem = shortage(offers, offer.machine);
      return places;
    }
    used.insert(offer.devices[device]);
    places.devices.push_back(int(device));
  }
  return places;
}

}  // namespace dlnb::gpu
