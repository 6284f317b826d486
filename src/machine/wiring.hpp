// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <dlnb/document.hpp>
#include <dlnb/machine.hpp>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace dlnb {

inline constexpr std::int64_t most_endpoints = 10'000'000;
/// Between switches; with the endpoints' that is less than 2 GB of links.
inline constexpr std::int64_t most_cables = 20'000'000;

/// A fabric made of cables between vertices: the endpoints first, then the switches.
/// Cable c is the two links 2c (as laid) and 2c + 1 (back); topologies compute link numbers from that.
class Wiring : public Fabric {
 public:
  struct Ends {
    int from = 0;
    int to = 0;
  };

  int endpoints() const final { return endpoints_; }
  std::span<const Link> links() const final { return links_; }
  /// A minimal route by hash. A topology writes this one or `minimal_route`.
  void route(int from, int to, std::uint64_t flow, std::vector<LinkIndex>& out) const override;
  /// The group a switch (counted from 0 over the machine) belongs to; -1: to none.
  virtual int group_of_switch(int) const { return -1; }
  int vertices() const { return vertices_; }
  Ends ends(LinkIndex link) const { return ends_[std::size_t(link)]; }

 protected:
  /// `cables` is what the topology is about to lay; sizes were checked before.
  Wiring(int endpoints, std::int64_t switches, std::int64_t cables);

  void lay(int from, int to, const Link& forth, const Link& back);

 private:
  int endpoints_;
  int vertices_;
  std::vector<Link> links_;
  std::vector<Ends> ends_;
};

/// Number of the pair i < j among the n(n-1)/2 pairs of n things.
constexpr std::int64_t pair_index(std::int64_t i, std::int64_t j, std::int64_t n) {
  return i * (2 * n - i - 1) / 2 + (j - i - 1);
}
constexpr std::int64_t pairs_of(std::int64_t n) { return n * (n - 1) / 2; }

/// A choice below `count`, spread evenly over flows; equal arguments give equal choices.
/// splitmix64's finaliser (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
constexpr std::uint64_t spread(int from, int to, std::uint64_t flow) {
  auto mix = [](std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  };
  return mix(flow ^ mix(std::uint64_t(std::uint32_t(from)) << 32 | std::uint32_t(to)));
}

/// Several choices out of one number, each taking what it needs: the digits of a number of mixed radix. A hash gives
/// choices at random; the numbers below the product of the counts give every combination once.
class Pick {
 public:
  explicit Pick(std::uint64_t number) : rest_(number) {}

  /// Even to within count / 2⁶⁴ of what is left of a hash.
  int below(int count) {
    const auto choice = rest_ % std::uint64_t(count);
    rest_ /= std::uint64_t(count);
    return int(choice);
  }

 private:
  std::uint64_t rest_;
};

/// Throws UserError where a sum of products (never overflowing on the way) is more than `most_cables`.
void check_cables(const Value& table, std::string_view topology,
                  std::initializer_list<std::initializer_list<std::int64_t>> kinds);

}  // namespace dlnb
