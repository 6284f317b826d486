// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <dlnb/metrics.hpp>
#include <dlnb/spec.hpp>
#include <dlnb/trace.hpp>

namespace dlnb {

/// One row of the byte ledger: what one rank of a role moves along an axis in one step.
struct LedgerRow {
  std::int64_t role = 0;
  std::string axis;
  OperationKind kind = OperationKind::all_reduce;
  Phase phase = Phase::forward;
  DataType dtype = DataType::bfloat16;
  std::int64_t group_size = 1;
  std::int64_t count = 0;
  std::int64_t bytes_each = 0;  ///< message_elements × size_of(dtype)
  std::int64_t bytes_total = 0;
  std::int64_t padding_bytes = 0;  ///< of bytes_total, what only makes parts equal
};
using Ledger = std::vector<LedgerRow>;

/// What the machine of a run was: the modelled one, or this host.
struct MachineSummary {
  std::string name, device, topology, placement, source;
  std::int64_t ranks = 0, nodes = 0, devices_per_node = 0;
};

struct Provenance {
  std::string version, commit, compiler;
  std::string time, host;  ///< live runs only: simulated results are the same bytes every time
  std::vector<std::pair<std::string, std::string>> environment;
};

/// Everything one run has to say; the report formats read only this.
struct Result {
  std::string kind;   ///< "run" or "simulate"
  std::string label;  ///< "dp · vit-h · leonardo · 64 ranks"
  RunSpec spec;
  MachineSummary machine;
  ProcessGrid grid;
  std::int64_t global_batch = 0;
  std::int64_t sequence = 1;
  std::string executor, library;
  Ledger ledger;
  Metrics metrics;
  std::string stopped_by;            ///< live runs: as in Trace
  double clock_bound = 0;            ///< live runs: seconds, two ranks' clocks differ by at most
  std::vector<SeriesRow> series;     ///< of a run without end
  std::vector<LostRankState> lost;   ///< ranks that others waited for in vain
  std::string job;                   ///< its name among several
  std::optional<Slowdown> slowdown;  ///< beside them
  LinkReport links;                  ///< simulated
  std::vector<std::string> jobs;     ///< names of all that shared the links; empty: only this
  std::vector<RankBinding> binding;  ///< live runs
  std::vector<RankEnergy> energy;    ///< where there are counters
  bool valid = true;
  std::vector<std::string> notes;
  Provenance provenance;
};

}  // namespace dlnb
