// SPDX-License-Identifier: Apache-2.0
// Which algorithm, with which protocol, does a collective. In this order:
//   1. the one the machine file forces, for what it can do
//   2. the first row of its tuning table that fits (size × ranks × nodes), as MPI libraries' decision files
//   3. the one of which the library's tuning model guesses that it is fastest, as NCCL and RCCL choose
//   4. without a library: the usual ones; the caller takes the fastest on the idle machine
// The guess of (3) decides only. What a collective then takes is simulated: the library's latencies (or the machine's
// own, [[software.cost]]) and the bytes at the rate they get.
#pragma once

#include <span>
#include <vector>

#include <dlnb/collective.hpp>
#include <dlnb/machine.hpp>

namespace dlnb::sim {

struct Choice {
  const Collective* algorithm = nullptr;
  const TuningCost* cost = nullptr;  ///< null: the costs of the operation's kind
  double bandwidth = 1;              ///< the protocol's achieved / what the links give
  bool operator==(const Choice&) const = default;
};

class Selection {
 public:
  /// Throws UserError where the machine's file names an algorithm that there is not.
  explicit Selection(const Machine& machine);

  /// One, or several where the fastest is to be taken (the first of equals). At least two members.
  std::vector<Choice> choices(OperationKind kind, std::span<const Member> members, double bytes) const;

  /// Seconds an algorithm's steps take in software, start included.
  static double latency(const TuningCost& cost, const Steps& steps, const GroupShape& shape);

 private:
  struct Named {
    const Collective* algorithm = nullptr;
    bool any_protocol = true;
    Protocol protocol = Protocol::simple;
  };
  struct Rule {
    const TuningRule* limits;
    Named named;
  };
  /// What leaves a device inside its node, and a NIC, bytes/s.
  struct Rates {
    double device = 0, nic = 0;
  };

  static Named find(const std::string& text, const std::string& where);
  Rates rates(std::span<const Member> members) const;
  bool may_use(Protocol protocol, const GroupShape& shape) const;
  Choice with(const Collective& algorithm, const TuningCost* cost, OperationKind kind,
              const GroupShape& shape, const Rates& rates) const;
  double guess(const Collective& algorithm, const TuningCost& cost, OperationKind kind,
               const GroupShape& shape, const Rates& rates, double bytes) const;
  std::vector<Choice> named(const Named& which, OperationKind kind, const GroupShape& shape,
                            const Rates& rates, double bytes) const;
  std::vector<Choice> guessed(const Collective* only, const Protocol* protocol, OperationKind kind,
                              const GroupShape& shape, const Rates& rates, double bytes) const;

  const Machine& machine_;
  Named forced_;
  std::vector<Rule> rules_;
  double nic_rate_ = 0;
};

}  // namespace dlnb::sim
