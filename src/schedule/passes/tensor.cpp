// SPDX-License-Identifier: Apache-2.0
// Tensor parallelism: every matrix of a layer is cut over T ranks, first by rows, then by columns, so that
// attention and mlp each end in one sum over the ranks (Shoeybi et al., "Megatron-LM", 2019).
//   all-reduce of the activation after attention and mlp, forward and backward: B·N·d elements.
// Sequence parallelism (Korthikanti et al., 2022) splits that sum in a reduce-scatter behind and an all-gather in
// front of each part, so that norms see 1/T of the tokens; embedding and head are cut as well.
// loss_parallel: logits stay cut by vocabulary; their largest value, sum of exponentials and the target's logit are
// summed instead, 3 numbers of 32 bits per token (Shoeybi et al., section 3).
// volume = "paper": the paper's Table I counts activation / T per all-reduce; "megatron": the whole activation.
#include <algorithm>
#include <array>

#include <dlnb/error.hpp>

#include "schedule/pass.hpp"

namespace dlnb::passes {
namespace {

enum class Volume : std::uint8_t { paper, megatron };

struct Params {
  Volume volume = Volume::megatron;
  bool sequence_parallel = false;
  bool loss_parallel = false;
  bool regather = false;

  bool cuts_ends() const { return sequence_parallel || loss_parallel; }
};
constexpr auto params = options(
    choice("volume", &Params::volume, "elements of one all-reduce: the activation / T, or all of it",
           std::array{Word<Volume>{"paper", Volume::paper}, Word<Volume>{"megatron", Volume::megatron}}),
    option("sequence_parallel", &Params::sequence_parallel,
           "reduce-scatter and all-gather around every part; embedding and head cut too"),
    option("loss_parallel", &Params::loss_parallel,
           "embedding and head cut, and the loss computed on cut logits, which are not gathered"),
    option("regather", &Params::regather,
           "sequence parallel: inputs are gathered again for the backward pass instead of kept (Megatron)"));

Params read(const PassUse& use) {
  Params p;
  if (use.flavour == Flavour::paper) p.volume = Volume::paper;
  params.read(use.options, use.path, p);
  if (p.regather && !p.sequence_parallel)
    throw UserError(use.where + " " + use.path + ".regather",
                    "nothing is gathered without sequence parallelism",
                    "add sequence_parallel = true, or leave it out");
  return p;
}

bool is_cut(PartKind kind, bool with_ends) {
  return kind == PartKind::attention || kind == PartKind::mlp ||
         (with_ends && (kind == PartKind::embedding || kind == PartKind::head));
}

void cut(Tensor& tensor, std::int64_t degree, const PassUse& use) {
  if (tensor.cut == Cut::none) return;
  std::int64_t& size = tensor.cut == Cut::rows ? tensor.rows : tensor.columns;
  if (size % degree != 0)
    throw UserError(use.where + " " + use.path,
                    "tensor '" + tensor.name + "' has " + std::to_string(size) + " " +
                        (tensor.cut == Cut::rows ? "rows" : "columns") + ", which " + std::to_string(degree) +
                        " ranks cannot share evenly",
                    "choose a degree that divides " + std::to_string(size));
  size /= degree;
}

void check_heads(const Draft& draft, const PassUse& use) {
  const Architecture& a = draft.step.architecture;
  if (a.hidden == 0)
    throw UserError(use.where + " " + use.path,
                    "model '" + draft.step.model + "' has no transformer layers to cut",
                    "use data, fsdp or pipeline");
  if (a.heads % use.degree != 0 || a.feed_forward % use.degree != 0)
    throw UserError(use.where + " " + use.path,
                    std::to_string(a.heads) + " attention heads and a feed-forward width of " +
                        std::to_string(a.feed_forward) + " cannot be shared by " +
                        std::to_string(use.degree) + " ranks",
                    "choose a degree that divides both");
}

class Inserter {
 public:
  Inserter(const Draft& draft, const PassUse& use, const Params& p)
      : draft_(draft), use_(use), whole_(draft.tokens * draft.step.architecture.hidden) {
    reduced_ = p.volume == Volume::paper ? padded_part(whole_, use.degree) : whole_;
  }

  Node all_reduce(const Node& beside) const {
    return node(beside, OperationKind::all_reduce, reduced_, reduced_);
  }
  Node gather(const Node& beside) const { return node(beside, OperationKind::all_gather, shard(), padded()); }
  Node scatter(const Node& beside) const {
    return node(beside, OperationKind::reduce_scatter, padded(), shard());
  }
  Node gather_logits(const Node& beside) const {
    const std::int64_t one = draft_.tokens * (draft_.step.architecture.vocabulary / use_.degree);
    return node(beside, OperationKind::all_gather, one, one * use_.degree);
  }
  Node sum_loss(const Node& beside) const {
    Node n = node(beside, OperationKind::all_reduce, 3 * draft_.tokens, 3 * draft_.tokens);
    n.operation.dtype = DataType::float32;
    return n;
  }

 private:
  std::int64_t shard() const { return padded_part(whole_, use_.degree); }
  std::int64_t padded() const { return shard() * use_.degree; }

  Node node(const Node& beside, OperationKind kind, std::int64_t sent, std::int64_t received) const {
    Node n = beside;
    n.operation.kind = kind;
    n.operation.cost = {};
    n.operation.axes = AxisSet{1} << use_.axis;
    n.operation.dtype = draft_.step.activation_type;
    n.operation.elements_sent = sent;
    n.operation.elements_received = received;
    if (kind != OperationKind::all_reduce && std::max(sent, received) == padded())
      n.operation.padding = padded() - whole_;
    return n;
  }

  const Draft& draft_;
  const PassUse& use_;
  std::int64_t whole_;
  std::int64_t reduced_ = 0;
};

std::vector<Node> with_communication(const std::vector<Node>& nodes, const Inserter& insert,
                                     const Params& p) {
  std::vector<Node> out;
  for (const Node& node : nodes) {
    const Operation& op = node.operation;
    if (op.kind != OperationKind::compute || !is_cut(op.part, p.cuts_ends())) {
      out.push_back(node);
      continue;
    }
    const bool forward = op.phase == Phase::forward;
    const bool inner = op.part != (forward ? PartKind::embedding : PartKind::head);  // its input is cut
    const bool outer = op.part != (forward ? PartKind::head : PartKind::embedding);  // its output is cut
    if (p.sequence_parallel && inner) out.push_back(insert.gather(node));
    // The gradient is gathered in front of every cut output; the input is, too, where it was not kept.
    if (p.sequence_parallel && p.regather && !forward && outer) out.push_back(insert.gather(node));
    out.push_back(node);
    if (outer) out.push_back(p.sequence_parallel ? insert.scatter(node) : insert.all_reduce(node));
    else if (forward) out.push_back(p.loss_parallel ? insert.sum_loss(node) : insert.gather_logits(node));
  }
  return out;
}

void divide(Draft& draft, const PassUse& use) {
  const Params p = read(use);
  check_heads(draft, use);
  draft.model_divisor *= use.degree;
  draft.division.tensor = use.degree;
  draft.division.sequence_parallel = p.sequence_parallel;
  draft.division.ends = p.cuts_ends();
  draft.division.regathers = p.regather;
  // With fewer key and value heads than ranks, ranks hold copies (paper flavour; the pytorch flavour cuts strictly).
  draft.kv_divisor *= std::min(use.degree, draft.step.architecture.kv_heads);
  const double share = 1.0 / double(use.degree);
  for (Work& work : draft.works) {
    const bool is_shared = is_cut(work.part.kind, p.cuts_ends());
    if (is_shared || (p.sequence_parallel && work.part.kind == PartKind::norm)) {
      work.forward = work.forward * share;
      work.backward = work.backward * share;
    }
    if (is_shared && draft.flavour == Flavour::pytorch)
      for (Tensor& tensor : work.part.tensors) cut(tensor, use.degree, use);
    if (p.sequence_parallel) work.output_elements = padded_part(work.output_elements, use.degree);
  }
}

void inside(Draft& draft, const PassUse& use) {
  if (use.degree == 1) return;
  const Params p = read(use);
  const Inserter insert(draft, use, p);
  draft.forward = with_communication(draft.forward, insert, p);
  draft.backward = with_communication(draft.backward, insert, p);
}

std::vector<OptionInfo> infos(Flavour flavour) {
  Params p;
  if (flavour == Flavour::paper) p.volume = Volume::paper;
  return params.info(p);
}

}  // namespace

extern constinit const Pass tensor{
    .name = "tensor",
    .summary = "every matrix of a layer cut over ranks; activations summed after attention and mlp",
    .degree_name = "degree",
    .place = 10,
    .brings_samples = [](Flavour) { return false; },
    .options = infos,
    .divide = divide,
    .inside = inside,
};

}  // namespace dlnb::passes
