// SPDX-License-Identifier: Apache-2.0
// Data parallelism: every replica has its own samples; gradients are summed over the replicas.
//   paper: the gradients in `buckets` equal parts, each reduced as soon as its share of the backward pass is done
//   (overlap), or in blocking operations at the end.
//   pytorch: gradients in the order in which they become ready (last parameter first); a bucket closes when it holds
//   at least `bucket` bytes, and the first one at `first_bucket` (Li et al., "PyTorch Distributed", VLDB 2020).
// zero = 1 and 2 shard the optimizer (Rajbhandari et al., "ZeRO", 2020): gradients are all-reduced (1) or
// reduce-scattered (2), and updated parameters gathered after the step. With fsdp it reduces the shards.
#include <algorithm>
#include <array>

#include <dlnb/error.hpp>

#include "schedule/pass.hpp"

namespace dlnb::passes {
namespace {

struct Params {
  std::int64_t buckets = 1;
  bool overlap = true;
  Bytes bucket{25 << 20};
  Bytes first_bucket{0};
  std::int64_t zero = 0;
};
constexpr auto params = options(
    option("buckets", &Params::buckets, "paper: equal parts the gradients are reduced in", part_count),
    option("overlap", &Params::overlap, "reduce while the backward pass still computes"),
    option("bucket", &Params::bucket, "pytorch: bytes at which a bucket of gradients closes", positive),
    option("first_bucket", &Params::first_bucket,
           "pytorch: bytes at which the first closes; 0: 1 MiB by default, `bucket` where that is given",
           not_negative),
    option("zero", &Params::zero, "0: all-reduce; 1: optimizer sharded; 2: gradients sharded too",
           Range{0, 2}));

Params read(const PassUse& use) {
  Params p;
  params.read(use.options, use.path, p);
  const char* other = use.flavour == Flavour::paper ? "bucket" : "buckets";
  if (use.options.find(other))
    throw UserError(use.options.find(other)->where() + " " + use.path + "." + other,
                    std::string("means nothing in this flavour"),
                    use.flavour == Flavour::paper ? "use buckets, or flavour = \"pytorch\""
                                                  : "use bucket (bytes), or flavour = \"paper\"");
  if (p.first_bucket.value == 0) p.first_bucket = use.options.find("bucket") ? p.bucket : Bytes{1 << 20};
  return p;
}

class Reducer {
 public:
  Reducer(const Draft& draft, const PassUse& use, const Params& p) : draft_(draft), use_(use), p_(p) {}

  /// The reduction of `elements` gradient elements over `extra` axes and the data axis.
  Node reduce(std::int64_t elements, std::int32_t bucket, AxisSet extra, Phase phase, bool blocking) const {
    Node node;
    Operation& op = node.operation;
    op.axes = axes(extra);
    op.phase = phase;
    op.blocking = blocking;
    op.unit = bucket;
    op.dtype = draft_.step.gradient_type;
    op.kind = p_.zero == 2 ? OperationKind::reduce_scatter : OperationKind::all_reduce;
    op.elements_sent = op.elements_received = elements;
    if (p_.zero == 2) {
      const std::int64_t n = draft_.grid.size(op.axes);
      op.elements_received = padded_part(elements, n);
      op.elements_sent = op.elements_received * n;
      op.padding = op.elements_sent - elements;
    }
    return node;
  }

  /// After the optimizer has updated its shard: every rank gets the whole bucket back.
  Node regather(std::int64_t elements, std::int32_t bucket, AxisSet extra) const {
    Node node = reduce(elements, bucket, extra, Phase::optimise, true);
    Operation& op = node.operation;
    const std::int64_t n = draft_.grid.size(op.axes);
    op.kind = OperationKind::all_gather;
    op.dtype = draft_.step.parameter_type;
    op.elements_sent = padded_part(elements, n);
    op.elements_received = op.elements_sent * n;
    op.padding = op.elements_received - elements;
    return node;
  }

  AxisSet axes(AxisSet extra) const { return (AxisSet{1} << use_.axis) | extra; }
  bool has_peers(AxisSet extra) const { return draft_.grid.size(axes(extra)) > 1; }

 private:
  const Draft& draft_;
  const PassUse& use_;
  const Params& p_;
};

bool makes_gradients(const Node& node) {
  return node.last_backward && node.operation.kind == OperationKind::compute;
}

void reduce_shards(const Draft& draft, Role& role, const Reducer& reducer) {
  std::vector<Node> out;
  for (const Node& node : role.nodes) {
    out.push_back(node);
    const bool shard =
        node.operation.kind == OperationKind::reduce_scatter && node.last_backward && node.unit != nothing;
    const AxisSet extra = node.expert ? draft.expert_gradient_axes : draft.dense_gradient_axes;
    if (!shard || !reducer.has_peers(extra)) continue;
    out.push_back(
        reducer.reduce(node.operation.elements_received, node.operation.unit, extra, Phase::backward, false));
  }
  out.push_back(wait_all_node(reducer.axes(draft.dense_gradient_axes), Phase::synchronise));
  if (draft.expert_gradient_axes != draft.dense_gradient_axes)
    out.push_back(wait_all_node(reducer.axes(draft.expert_gradient_axes), Phase::synchronise));
  role.nodes = std::move(out);
}

void reduce_equal_parts(Role& role, const Reducer& reducer, const Params& p, AxisSet extra) {
  if (!reducer.has_peers(extra)) return;
  const std::int64_t elements = role.amount.total();
  if (p.overlap) {
    const std::vector<std::size_t> ends = slice_evenly(role.nodes, p.buckets, makes_gradients);
    std::vector<Node> out;
    out.reserve(role.nodes.size() + ends.size());
    std::size_t begin = 0;
    for (std::int64_t i = 0; i < p.buckets; ++i) {
      const std::size_t end = ends[std::size_t(i)];
      out.insert(out.end(), role.nodes.begin() + std::ptrdiff_t(begin),
                 role.nodes.begin() + std::ptrdiff_t(end));
      out.push_back(
          reducer.reduce(part_of(elements, p.buckets, i), std::int32_t(i), extra, Phase::backward, false));
      begin = end;
    }
    out.insert(out.end(), role.nodes.begin() + std::ptrdiff_t(begin), role.nodes.end());
    role.nodes = std::move(out);
    role.nodes.push_back(wait_all_node(reducer.axes(extra), Phase::synchronise));
  } else {
    for (std::int64_t i = 0; i < p.buckets; ++i)
      role.nodes.push_back(
          reducer.reduce(part_of(elements, p.buckets, i), std::int32_t(i), extra, Phase::synchronise, true));
  }
  if (p.zero > 0)
    for (std::int64_t i = 0; i < p.buckets; ++i)
      role.nodes.push_back(reducer.regather(part_of(elements, p.buckets, i), std::int32_t(i), extra));
}

/// Buckets that fill in the order in which gradients become ready; dense and expert ones reduce over different axes.
class Buckets {
 public:
  Buckets(const Reducer& reducer, const Params& p, AxisSet extra, std::int64_t element_size)
      : reducer_(reducer), p_(p), extra_(extra), element_size_(element_size) {}

  /// True where the bucket is full now.
  bool add(std::int64_t elements) {
    filled_ += elements;
    return filled_ * element_size_ >= (closed_.empty() ? p_.first_bucket : p_.bucket).value;
  }
  bool empty() const { return filled_ == 0; }
  Node close() {
    closed_.push_back(filled_);
    return reducer_.reduce(std::exchange(filled_, 0), std::int32_t(closed_.size()) - 1, extra_,
                           p_.overlap ? Phase::backward : Phase::synchronise, !p_.overlap);
  }
  void end(std::vector<Node>& nodes) const {
    if (p_.overlap) nodes.push_back(wait_all_node(reducer_.axes(extra_), Phase::synchronise));
    if (p_.zero > 0)
      for (std::size_t i = 0; i < closed_.size(); ++i)
        nodes.push_back(reducer_.regather(closed_[i], std::int32_t(i), extra_));
  }

 private:
  const Reducer& reducer_;
  const Params& p_;
  AxisSet extra_;
  std::int64_t element_size_;
  std::int64_t filled_ = 0;
  std::vector<std::int64_t> closed_;
};

void reduce_ready_buckets(Draft& draft, Role& role, const Reducer& reducer, const Params& p) {
  const std::int64_t size = size_of(draft.step.gradient_type);
  Buckets dense(reducer, p, draft.dense_gradient_axes, size),
      expert(reducer, p, draft.expert_gradient_axes, size);
  const bool dense_peers = reducer.has_peers(draft.dense_gradient_axes);
  const bool expert_peers = reducer.has_peers(draft.expert_gradient_axes);
  std::vector<Node> late;  // without overlap: all reductions behind the backward pass

  std::vector<Node> out;
  for (const Node& node : role.nodes) {
    if (!makes_gradients(node)) {
      out.push_back(node);
      continue;
    }
    const std::vector<Tensor>& tensors = draft.works[std::size_t(node.part)].part.tensors;
    std::int64_t total = 0, ready = 0, cut = 0;
    for (const Tensor& tensor : tensors) total += tensor.elements();
    // The gradient of a tensor is taken to be ready after its share, by elements, of the part's backward pass.
    Node rest = node;
    for (std::size_t i = tensors.size(); i-- > 0;) {
      const Tensor& tensor = tensors[i];
      ready += tensor.elements();
      if (!(tensor.expert ? expert_peers : dense_peers)) continue;
      Buckets& buckets = tensor.expert ? expert : dense;
      if (!buckets.add(tensor.elements())) continue;
      Node done = rest;
      const double share = double(ready - cut) / double(total - cut);
      done.operation.cost = rest.operation.cost * share;
      rest.operation.cost = rest.operation.cost * (1 - share);
      cut = ready;
      out.push_back(done);
      (p.overlap ? out : late).push_back(buckets.close());
    }
    out.push_back(rest);
  }
  out.insert(out.end(), late.begin(), late.end());
  for (auto [buckets, peers] : {std::pair{&dense, dense_peers}, std::pair{&expert, expert_peers}}) {
    if (!peers) continue;
    if (!buckets->empty()) out.push_back(buckets->close());
    buckets->end(out);
  }
  role.nodes = std::move(out);
}

void around(Draft& draft, const PassUse& use) {
  const Params p = read(use);
  const Reducer reducer(draft, use, p);
  for (Role& role : draft.roles) {
    if (role.sharded) {
      if (p.zero > 0)
        throw UserError(use.where + " " + use.path + ".zero", "fsdp already shards parameters and gradients",
                        "leave out zero, or fsdp");
      reduce_shards(draft, role, reducer);
    } else if (draft.flavour == Flavour::paper) {
      reduce_equal_parts(role, reducer, p, draft.paper_gradient_axes);
    } else {
      reduce_ready_buckets(draft, role, reducer, p);
    }
    if (p.zero > 0) role.updated = padded_part(role.held, draft.grid.size(reducer.axes(0)));
    if (p.zero == 2) role.summed = role.updated;
  }
}

}  // namespace

extern constinit const Pass data{
    .name = "data",
    .summary = "replicas with samples of their own; gradients summed over them",
    .degree_name = "degree",
    .place = 60,
    .brings_samples = [](Flavour) { return true; },
    .options = [](Flavour) { return params.info(Params{}); },
    .around = around,
};

}  // namespace dlnb::passes
