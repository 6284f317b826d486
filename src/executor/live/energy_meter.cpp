// SPDX-License-Identifier: Apache-2.0
#include "executor/live/energy_meter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <type_traits>

namespace dlnb {
namespace {

static_assert(std::is_trivially_copyable_v<RankEnergy>);

std::vector<std::unique_ptr<EnergyCounters>> open_all(const EnergyPlace& place) {
  std::vector<std::unique_ptr<EnergyCounters>> all;
  for (const EnergySource* source : energies::all()) {
    std::unique_ptr<EnergyCounters> counters = source->open(place).counters;
    if (!counters) continue;
    if (source->whole_machine) {
      all.clear();
      all.push_back(std::move(counters));
      return all;
    }
    all.push_back(std::move(counters));
  }
  return all;
}

}  // namespace

EnergyMeter::EnergyMeter(const Neighbours& neighbours, Clock& clock, EnergyPlace place)
    : neighbours_(neighbours), clock_(clock) {
  if (!neighbours.leads()) return;
  std::set<std::string> devices;
  for (const int rank : neighbours.ranks)
    if (const char* device = neighbours.all[std::size_t(rank)].device.data(); *device) devices.insert(device);
  place.devices.assign(devices.begin(), devices.end());
  counters_ = open_all(place);
  double gap = 0;
  for (const auto& counters : counters_)
    if (const double own = counters->longest_gap().value; own > 0) gap = gap == 0 ? own : std::min(gap, own);
  if (gap > 0) reader_ = std::thread([this, gap] { keep_reading({gap}); });
}

EnergyMeter::~EnergyMeter() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  closing_signal_.notify_all();
  if (reader_.joinable()) reader_.join();
}

void EnergyMeter::begin() {
  const std::lock_guard lock(mutex_);
  begin_ = read();
}

void EnergyMeter::end() {
  const std::lock_guard lock(mutex_);
  end_ = read();
}

EnergyMeter::Reading EnergyMeter::read() {
  Reading reading;
  try {
    for (const auto& counters : counters_)
      for (EnergyReading& part : counters->read()) reading.parts.push_back(std::move(part));
  } catch (const std::runtime_error& error) {
    if (problem_.empty()) problem_ = error.what();
  }
  reading.at = clock_.now();
  return reading;
}

void EnergyMeter::keep_reading(Seconds gap) {
  std::unique_lock lock(mutex_);
  const std::chrono::duration<double> period(gap.value);
  while (!closing_signal_.wait_for(lock, period, [this] { return closing_; })) read();
}

std::string EnergyMeter::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

std::string EnergyMeter::method() const {
  std::vector<std::string> methods;
  for (const auto& counters : counters_) methods.push_back(counters->method());
  return fmt::format("{}", fmt::join(methods, "; "));
}

std::vector<RankEnergy> EnergyMeter::shares() const {
  const std::lock_guard lock(mutex_);
  if (counters_.empty() || !problem_.empty()) return {};
  const auto device_of = [&](int rank) { return neighbours_.all[std::size_t(rank)].device.data(); };
  std::vector<RankEnergy> shares;
  for (const int rank : neighbours_.ranks) shares.push_back({rank, 0, double(end_.at - begin_.at) / 1e9});
  for (std::size_t i = 0; i < end_.parts.size(); ++i) {
    const EnergyReading& part = end_.parts[i];
    const auto has_part = [&](const RankEnergy& share) {
      return part.device.empty() || part.device == device_of(int(share.rank));
    };
    const double each =
        (part.joules - begin_.parts[i].joules) / double(std::ranges::count_if(shares, has_part));
    for (RankEnergy& share : shares)
      if (has_part(share)) share.joules += each;
  }
  return shares;
}

void EnergyMeter::collect(const Control& control, Trace& trace) const {
  const std::vector<RankEnergy> own = shares();
  const std::vector<std::string> methods = control.gather(method()), problems = control.gather(problem());
  const auto machines = control.gather(std::as_bytes(std::span(own)));
  if (!control.first()) return;
  for (const auto& bytes : machines) {
    const std::size_t before = trace.energy.size();
    trace.energy.resize(before + bytes.size() / sizeof(RankEnergy));
    if (!bytes.empty()) std::memcpy(trace.energy.data() + before, bytes.data(), bytes.size());
  }
  std::ranges::sort(trace.energy, {}, &RankEnergy::rank);
  std::set<std::string> different(methods.begin(), methods.end());
  different.erase("");
  trace.energy_method = fmt::format("{}", fmt::join(different, "; "));
  for (std::size_t rank = 0; rank < problems.size(); ++rank)
    if (!problems[rank].empty())
      trace.notes.push_back(fmt::format("the energy of {} was not counted to the end: {}",
                                        neighbours_.all[rank].host.data(), problems[rank]));
  if (trace.energy.size() == neighbours_.all.size()) return;
  if (!trace.energy.empty())
    trace.notes.push_back(fmt::format("energy is left out: {} of {} ranks are on machines that count it",
                                      trace.energy.size(), neighbours_.all.size()));
  trace.energy.clear();
  trace.energy_method.clear();
}

}  // namespace dlnb
