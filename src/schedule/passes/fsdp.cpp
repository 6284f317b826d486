// SPDX-License-Identifier: Apache-2.0
// Fully sharded data parallelism: every rank of the axis keeps 1/F of each sharding unit, gathers a unit before it
// computes with it and scatters its summed gradient behind it (Zhao et al., "PyTorch FSDP", VLDB 2023).
//   all-gather: shard → unit, reduce-scatter: unit → shard.
//   paper: `units` equal slices of the model; the next unit is gathered under the current one's compute; the unit at
//   the turn from forward to backward stays; reduce-scatter blocks (Algorithm 2).
//   pytorch: one unit per layer and one, the root, of everything else; tensors are padded one by one along their
//   first dimension; forward, a layer's gather is issued when its turn comes and runs ahead on the device; backward,
//   each unit prefetches the next. Orders and sizes as recorded from PyTorch 2.13 (test/golden/torch).
#include <algorithm>
#include <map>
#include <set>

#include <dlnb/error.hpp>

#include "schedule/pass.hpp"

namespace dlnb::passes {
namespace {

struct Params {
  std::int64_t units = 16;
  bool reshard_after_forward = true;
  bool every_microbatch = false;
};
constexpr auto params =
    options(option("units", &Params::units, "paper: equal slices the model is gathered in", part_count),
            option("reshard_after_forward", &Params::reshard_after_forward,
                   "free a unit behind its forward pass and gather it again for the backward pass"),
            option("every_microbatch", &Params::every_microbatch,
                   "scatter gradients behind every micro-batch; else they are summed whole until the last"));

Params read(const PassUse& use) {
  Params p;
  params.read(use.options, use.path, p);
  if (use.flavour == Flavour::pytorch && use.options.find("units"))
    throw UserError(use.options.find("units")->where() + " " + use.path + ".units",
                    "units are the model's layers in this flavour",
                    "leave it out, or use flavour = \"paper\"");
  return p;
}

/// What one rank moves for one unit; dense and expert parameters apart where they are reduced over different axes.
struct Share {
  std::int64_t shard = 0;    ///< elements, padded
  std::int64_t padding = 0;  ///< of the whole unit
};
struct Unit {
  Share dense, expert;
  bool empty() const { return dense.shard == 0 && expert.shard == 0; }
};

constexpr int root = 0;  // pytorch: unit 0; layers follow

class Sharder {
 public:
  Sharder(const Draft& draft, const PassUse& use, const Params& p, Role& role)
      : draft_(draft), use_(use), p_(p), role_(role), separate_(draft.expert_divisor > 1) {
    const AxisSet data = draft.grid.find("data") < 0 ? 0 : AxisSet{1} << draft.grid.find("data");
    replicated_ = draft.grid.size(data | draft.dense_gradient_axes) > 1;
    paper_ = draft.flavour == Flavour::paper;
  }

  void run() {
    if (paper_) label_slices();
    else label_layers();
    find_visits();
    paper_ ? weave_slices() : weave_layers();
    role_.nodes = std::move(out_);
    role_.sharded = true;
    std::int64_t held = 0;
    for (const Unit& unit : units_) held += unit.dense.shard + unit.expert.shard;
    role_.held = role_.updated = role_.summed = held;
    role_.gathered_bytes = most_gathered_;
  }

 private:
  /// Nodes in a row that compute with one unit.
  struct Visit {
    std::size_t begin, end;
    int unit;
    Phase phase;
    bool scatters;  ///< gradients of the unit are scattered behind it
  };

  void label_slices() {
    const std::int64_t chunks = 1 + std::ranges::max(role_.nodes, {}, &Node::chunk).chunk;
    if (p_.units % chunks != 0)
      throw UserError(use_.where + " " + use_.path + ".units",
                      std::to_string(p_.units) + " units do not divide over " + std::to_string(chunks) +
                          " virtual stages",
                      "choose a multiple of " + std::to_string(chunks));
    const std::int64_t each = p_.units / chunks;
    for (std::int64_t u = 0; u < p_.units; ++u)
      units_.push_back(separate_ ? Unit{share(part_of(role_.amount.dense, p_.units, u)),
                                        share(part_of(role_.amount.expert, p_.units, u))}
                                 : Unit{share(part_of(role_.amount.total(), p_.units, u)), {}});

    std::set<std::tuple<Phase, std::int32_t, int>> sweeps;
    for (const Node& node : role_.nodes)
      if (node.operation.kind == OperationKind::compute)
        sweeps.insert({node.operation.phase, node.operation.microbatch, node.chunk});
    for (const auto& sweep : sweeps) {
      const auto& [phase, microbatch, chunk] = sweep;
      const auto chosen = [&sweep](const Node& node) {
        return node.part != no_part &&
               std::tuple(node.operation.phase, node.operation.microbatch, node.chunk) == sweep;
      };
      const std::vector<std::size_t> ends = slice_evenly(role_.nodes, each, [&](const Node& n) {
        return chosen(n) && n.operation.kind == OperationKind::compute;
      });
      std::size_t slice = 0;
      for (std::size_t i = 0; i < role_.nodes.size(); ++i) {
        if (!chosen(role_.nodes[i])) continue;
        while (slice + 1 < ends.size() && i >= ends[slice] &&
               role_.nodes[i].operation.kind == OperationKind::compute)
          ++slice;
        const std::int64_t in_chunk =
            phase == Phase::forward ? std::int64_t(slice) : each - 1 - std::int64_t(slice);
        role_.nodes[i].unit = int(chunk * each + in_chunk);
      }
    }
  }

  void label_layers() {
    std::map<int, int> unit_of_layer;
    units_.resize(1);
    for (const int part : role_.parts) {
      const Part& piece = draft_.works[std::size_t(part)].part;
      int unit = root;
      if (piece.layer >= 0) {
        unit = unit_of_layer.try_emplace(piece.layer, int(units_.size())).first->second;
        units_.resize(std::max(units_.size(), std::size_t(unit) + 1));
      }
      for (const Tensor& tensor : piece.tensors) {
        Share& share =
            tensor.expert && separate_ ? units_[std::size_t(unit)].expert : units_[std::size_t(unit)].dense;
        const std::int64_t rows = padded_part(tensor.rows, use_.degree);
        share.shard += rows * tensor.columns * tensor.copies;
        share.padding += (rows * use_.degree - tensor.rows) * tensor.columns * tensor.copies;
      }
    }
    for (Node& node : role_.nodes)
      if (node.part != no_part) {
        const int layer = draft_.works[std::size_t(node.part)].part.layer;
        node.unit = layer < 0 ? root : unit_of_layer.at(layer);
      }
  }

  void find_visits() {
    for (std::size_t i = 0; i < role_.nodes.size(); ++i) {
      const Node& node = role_.nodes[i];
      if (node.unit == nothing) continue;
      if (!visits_.empty()) {
        Visit& last = visits_.back();
        const Operation& before = role_.nodes[last.end - 1].operation;
        if (last.unit == node.unit && last.phase == node.operation.phase &&
            before.microbatch == node.operation.microbatch && role_.nodes[last.end - 1].chunk == node.chunk) {
          last.end = i + 1;
          continue;
        }
      }
      const bool scatters =
          node.operation.phase == Phase::backward && (node.last_backward || p_.every_microbatch);
      visits_.push_back({i, i + 1, node.unit, node.operation.phase, scatters});
    }
  }

  void weave_slices() {
    std::set<int> held;
    std::size_t copied = 0;
    for (std::size_t v = 0; v < visits_.size(); ++v) {
      const Visit& visit = visits_[v];
      const Visit* next = v + 1 < visits_.size() ? &visits_[v + 1] : nullptr;
      if (v == 0) gather(visit, true, false);
      held.insert(visit.unit);
      copy(copied, visit.begin);
      const bool prefetch = next && !held.contains(next->unit);
      note(held, prefetch ? next->unit : nothing, visit);
      if (prefetch) gather(*next, false, false);
      const bool omitted = draft_.literal && visit.phase == Phase::forward && visit.unit == int(p_.units) - 1;
      if (!omitted) copy(visit.begin, visit.end);
      copied = visit.end;
      const bool turns = next && next->unit == visit.unit;
      if (visit.scatters) scatter(visit, true);
      if (!turns && (visit.phase == Phase::backward || p_.reshard_after_forward)) held.erase(visit.unit);
      if (prefetch) wait(*next);
    }
    copy(copied, role_.nodes.size());
  }

  void weave_layers() {
    std::set<int> held;
    std::size_t copied = 0;
    for (std::size_t first = 0; first < visits_.size();) {
      // One pass: the visits of one phase and micro-batch through one chunk; the root embraces it.
      std::size_t end = first + 1;
      while (end < visits_.size() && same_pass(visits_[first], visits_[end])) ++end;
      const bool forward = visits_[first].phase == Phase::forward;
      copy(copied, visits_[first].begin);
      copied = visits_[first].begin;

      Visit whole = visits_[first];
      whole.unit = root;
      const auto bring = [&](const Visit& visit, bool ahead) {
        if (units_[std::size_t(visit.unit)].empty() || !held.insert(visit.unit).second) return;
        gather(visit, false, ahead);
        awaited_.insert(visit.unit);
      };
      const auto settle = [&](const Visit& visit) {
        if (awaited_.erase(visit.unit)) wait(visit);
      };
      bring(whole, false);
      settle(whole);
      std::vector<std::size_t> layers;
      for (std::size_t v = first; v < end; ++v)
        if (visits_[v].unit != root) layers.push_back(v);
      if (!forward && !layers.empty() && visits_[first].unit == root) bring(visits_[layers[0]], false);

      for (std::size_t v = first; v < end; ++v) {
        const Visit& visit = visits_[v];
        copy(copied, visit.begin);
        copied = visit.end;
        if (visit.unit != root) {
          bring(visit, forward);
          settle(visit);
          const auto following = std::ranges::upper_bound(layers, v);
          if (!forward && following != layers.end()) bring(visits_[*following], false);
          // Forward, the device gathers the next layer while this one computes (Operation::ahead).
          const bool next = forward && following != layers.end() && !held.contains(visits_[*following].unit);
          note(held, next ? visits_[*following].unit : nothing, visit);
        }
        copy(visit.begin, visit.end);
        if (visit.unit == root) continue;
        if (visit.scatters) scatter(visit, replicated_);
        if (forward ? p_.reshard_after_forward : visit.scatters || p_.reshard_after_forward)
          held.erase(visit.unit);
      }
      whole.scatters = visits_[first].scatters;
      if (whole.scatters && !units_[root].empty()) scatter(whole, replicated_);
      if (forward ? p_.reshard_after_forward : whole.scatters || p_.reshard_after_forward) held.erase(root);
      first = end;
    }
    copy(copied, role_.nodes.size());
    out_.push_back(wait_all_node(axes(), Phase::synchronise));
  }

  std::int64_t whole_elements(int unit) const {
    const Unit& u = units_[std::size_t(unit)];
    return (u.dense.shard + u.expert.shard) * use_.degree;
  }

  // Units held and one on its way, and in the backward pass the gradients that are whole for now: of this unit and
  // the one before, or of all units that are not scattered yet.
  void note(const std::set<int>& held, int coming, const Visit& visit) {
    std::int64_t parameters = coming == nothing ? 0 : whole_elements(coming), gradients = 0;
    for (const int unit : held) parameters += whole_elements(unit);
    if (visit.phase == Phase::backward) {
      if (!visit.scatters) summed_.insert(visit.unit);
      for (const int unit : summed_) gradients += whole_elements(unit);
      gradients += 2 * whole_elements(visit.unit);
    }
    most_gathered_ =
        std::max(most_gathered_, double(parameters) * double(size_of(draft_.step.parameter_type)) +
                                     double(gradients) * double(size_of(draft_.step.gradient_type)));
  }

  bool same_pass(const Visit& a, const Visit& b) const {
    const Node& x = role_.nodes[a.begin];
    const Node& y = role_.nodes[b.begin];
    return a.phase == b.phase && x.operation.microbatch == y.operation.microbatch && x.chunk == y.chunk;
  }

  void copy(std::size_t begin, std::size_t end) {
    if (begin < end)
      out_.insert(out_.end(), role_.nodes.begin() + std::ptrdiff_t(begin),
                  role_.nodes.begin() + std::ptrdiff_t(end));
  }

  Share share(std::int64_t elements) const {
    const std::int64_t shard = padded_part(elements, use_.degree);
    return {shard, shard * use_.degree - elements};
  }

  Node node(OperationKind kind, const Visit& visit, const Share& share, bool expert) const {
    Node node;
    Operation& op = node.operation;
    op.kind = kind;
    op.phase = visit.phase;
    op.axes = axes();
    op.unit = visit.unit;
    const Operation& beside = role_.nodes[visit.begin].operation;
    op.microbatch = beside.microbatch;
    op.layer = !paper_ && visit.unit != root ? beside.layer : nothing;
    op.dtype = kind == OperationKind::all_gather ? draft_.step.parameter_type : draft_.step.gradient_type;
    op.elements_sent = op.elements_received = share.shard * use_.degree;
    (kind == OperationKind::all_gather ? op.elements_sent : op.elements_received) = share.shard;
    op.padding = share.padding;
    node.unit = visit.unit;
    node.expert = expert;
    return node;
  }

  template <class Each>
  void each_share(const Visit& visit, Each each) {
    const Unit& unit = units_[std::size_t(visit.unit)];
    if (unit.dense.shard > 0) each(unit.dense, false);
    if (unit.expert.shard > 0) each(unit.expert, true);
  }

  void gather(const Visit& visit, bool blocking, bool ahead) {
    each_share(visit, [&](const Share& share, bool expert) {
      Node n = node(OperationKind::all_gather, visit, share, expert);
      n.operation.blocking = blocking;
      n.operation.ahead = ahead;
      if (!blocking) {
        n.operation.handle = first_handle + next_handle_++;
        handles_[visit.unit].push_back(n.operation.handle);
      }
      out_.push_back(n);
    });
  }

  void wait(const Visit& visit) {
    for (const std::int32_t handle : std::exchange(handles_[visit.unit], {})) {
      Node n = node(OperationKind::wait, visit, {}, false);
      n.operation.handle = handle;
      out_.push_back(n);
    }
  }

  void scatter(const Visit& visit, bool blocking) {
    each_share(visit, [&](const Share& share, bool expert) {
      Node n = node(OperationKind::reduce_scatter, visit, share, expert);
      n.operation.blocking = blocking;
      n.last_backward = true;
      out_.push_back(n);
    });
  }

  AxisSet axes() const { return AxisSet{1} << use_.axis; }

  static constexpr std::int32_t first_handle = 1 << 28;  // apart from the pipeline's draft handles

  const Draft& draft_;
  const PassUse& use_;
  const Params& p_;
  Role& role_;
  const bool separate_;  // expert parameters are reduced over other axes than dense ones
  bool paper_ = false;
  bool replicated_ = false;
  std::vector<Unit> units_;
  std::vector<Visit> visits_;
  std::vector<Node> out_;
  std::set<int> awaited_;
  std::map<int, std::vector<std::int32_t>> handles_;
  std::int32_t next_handle_ = 0;
  std::set<int> summed_;  ///< units with whole gradients that wait for the last micro-batch
  double most_gathered_ = 0;
};

void around(Draft& draft, const PassUse& use) {
  const Params p = read(use);
  if (use.degree == 1) return;
  for (Role& role : draft.roles) Sharder(draft, use, p, role).run();
}

}  // namespace

extern constinit const Pass fsdp{
    .name = "fsdp",
    .summary = "parameters, gradients and optimizer sharded over ranks; units gathered for use",
    .degree_name = "degree",
    .place = 40,
    .brings_samples = [](Flavour) { return true; },
    .options = [](Flavour) { return params.info(Params{}); },
    .around = around,
};

}  // namespace dlnb::passes
