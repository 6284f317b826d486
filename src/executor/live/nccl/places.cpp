// SPDX-License-Identifier: Apache-2.0
#include "executor/live/nccl/places.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

namespace dlnb::nccl {
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

}  // namespace dlnb::nccl
