// SPDX-License-Identifier: Apache-2.0
// Pipeline parallelism: the layers are cut into stages; micro-batches travel through them in a chosen order.
//   split = "layers": as many layers in every stage. "cost": a layer weighs as much as its matrices have elements, the
//   head vocabulary · hidden; a stage ends behind the layer with which it exceeds its share of the whole, so that the
//   last stages hold fewer layers and the head (nanotron, github.com/huggingface/nanotron, models/base.py).
//   activation between stages: micro-batch tokens · hidden elements, forward; its gradient back.
// Embedding goes with the first stage, final norm and head with the last.
#include <algorithm>
#include <array>
#include <map>

#include <dlnb/error.hpp>

#include "schedule/order.hpp"
#include "schedule/pass.hpp"

namespace dlnb::passes {
namespace {

enum class Split : std::uint8_t { layers, cost };

struct Params {
  std::int64_t microbatches = 0;
  std::string schedule = "gpipe";
  std::int64_t virtual_stages = 1;
  Split split = Split::layers;
};
constexpr auto params = options(
    option("microbatches", &Params::microbatches, "parts the batch is cut into; 0: as many as stages",
           not_negative),
    option("schedule", &Params::schedule, "order of micro-batches: gpipe, 1f1b or interleaved"),
    option("virtual_stages", &Params::virtual_stages, "stages per rank (interleaved)", part_count),
    choice("split", &Params::split, "layers: equally many in every stage; cost: equal work, head included",
           std::array{Word<Split>{"layers", Split::layers}, Word<Split>{"cost", Split::cost}}));

Params read(const PassUse& use) {
  Params p;
  params.read(use.options, use.path, p);
  if (p.microbatches == 0) p.microbatches = use.degree;
  if (p.microbatches > 1'000'000)
    throw UserError(use.where + " " + use.path + ".microbatches", "more than 1000000 micro-batches",
                    "choose fewer");
  return p;
}

double weight_of(const Draft& draft, const Part& part) {
  if (part.kind == PartKind::embedding) return 0;
  const Architecture& a = draft.step.architecture;
  if (part.kind == PartKind::head && a.vocabulary > 0) return double(a.vocabulary) * double(a.hidden);
  double weight = part.forward_flops;  // of layer lists
  for (const Tensor& tensor : part.tensors)
    if (a.hidden > 0 && tensor.columns > 1) weight += double(tensor.elements());
  return weight;
}

std::vector<int> stages_by_cost(const Draft& draft, int stages, const PassUse& use) {
  const std::vector<Work>& works = draft.step.works;  // whole: before other passes have cut them
  double total = 0;
  for (const Work& work : works) total += weight_of(draft, work.part);
  std::vector<int> stage_of(works.size());
  double done = 0;
  int stage = 0;
  for (std::size_t i = 0; i < works.size(); ++i) {
    stage_of[i] = stage;
    done += weight_of(draft, works[i].part);
    const bool layer_goes_on =
        i + 1 < works.size() && works[i].part.layer >= 0 && works[i].part.layer == works[i + 1].part.layer;
    if (!layer_goes_on && stage + 1 < stages && done > total * double(stage + 1) / double(stages)) ++stage;
  }
  if (stage_of.back() + 1 < stages)
    throw UserError(use.where + " " + use.path,
                    "only " + std::to_string(stage_of.back() + 1) + " of " + std::to_string(stages) +
                        " stages of '" + draft.step.model + "' get layers when they are split by cost",
                    "choose fewer stages");
  return stage_of;
}

// part → virtual stage. Parts outside the layers go with their neighbours.
std::vector<int> stages_of(const Draft& draft, int stages, const PassUse& use) {
  const bool transformer = draft.step.architecture.hidden > 0;
  std::int64_t pieces = 0;
  int previous_layer = nothing;
  std::vector<std::int64_t> piece_of(draft.works.size(), 0);
  for (std::size_t i = 0; i < draft.works.size(); ++i) {
    const int layer = draft.works[i].part.layer;
    if (transformer ? layer >= 0 && layer != previous_layer : true) ++pieces;
    if (layer >= 0) previous_layer = layer;
    piece_of[i] = std::max<std::int64_t>(pieces - 1, 0);
  }
  if (pieces % stages != 0)
    throw UserError(use.where + " " + use.path,
                    std::to_string(pieces) + " layers of '" + draft.step.model + "' do not divide into " +
                        std::to_string(stages) + " stages",
                    "choose a number of stages that divides " + std::to_string(pieces));
  std::vector<int> stage_of(draft.works.size());
  for (std::size_t i = 0; i < stage_of.size(); ++i) stage_of[i] = int(piece_of[i] / (pieces / stages));
  return stage_of;
}

class Builder {
 public:
  Builder(Draft& draft, const PassUse& use, const Pipeline& pipeline, Split split)
      : draft_(draft),
        use_(use),
        pipeline_(pipeline),
        stage_of_(split == Split::cost ? stages_by_cost(draft, pipeline.stages(), use)
                                       : stages_of(draft, pipeline.stages(), use)) {}

  Role role(int rank, const std::vector<PipelineAction>& actions) {
    Role role;
    role.role = rank;
    for (int chunk = 0; chunk < pipeline_.chunks; ++chunk)
      for (std::size_t part = 0; part < stage_of_.size(); ++part)
        if (stage_of_[part] == chunk * pipeline_.ranks + rank) role.parts.push_back(int(part));
    waiting_.clear();
    for (const PipelineAction& action : actions) add(role.nodes, action);
    return role;
  }

 private:
  using Input = std::tuple<int, int, bool>;  // stage, micro-batch, backward

  void add(std::vector<Node>& nodes, const PipelineAction& action) {
    switch (action.kind) {
      case PipelineAction::Kind::forward: compute(nodes, action, draft_.forward); break;
      case PipelineAction::Kind::backward: compute(nodes, action, draft_.backward); break;
      case PipelineAction::Kind::send:
      case PipelineAction::Kind::recv: nodes.push_back(message(action)); break;
      case PipelineAction::Kind::settle: nodes.push_back(wait_all_node(axes(), Phase::forward)); break;
    }
  }

  void compute(std::vector<Node>& nodes, const PipelineAction& action, const std::vector<Node>& body) {
    const auto input = waiting_.find({action.stage, action.microbatch, action.backward});
    if (input != waiting_.end()) {
      Node wait = wait_all_node(axes(), action.backward ? Phase::backward : Phase::forward);
      wait.operation.kind = OperationKind::wait;
      wait.operation.handle = input->second;
      wait.operation.microbatch = action.microbatch;
      nodes.push_back(wait);
    }
    for (const Node& node : body) {
      if (stage_of_[std::size_t(node.part)] != action.stage) continue;
      Node mine = node;
      mine.operation.microbatch = pipeline_.microbatches > 1 ? action.microbatch : nothing;
      mine.chunk = action.stage / pipeline_.ranks;
      mine.last_backward = action.backward && action.microbatch == pipeline_.microbatches - 1;
      nodes.push_back(mine);
    }
  }

  Node message(const PipelineAction& action) {
    const bool sends = action.kind == PipelineAction::Kind::send;
    const int other = action.stage + (sends == action.backward ? -1 : 1);
    const int boundary = std::min(action.stage, other);  // the activation leaves this stage
    Node node;
    Operation& op = node.operation;
    op.kind = sends ? OperationKind::send : OperationKind::recv;
    op.phase = action.backward ? Phase::backward : Phase::forward;
    op.dtype = draft_.step.activation_type;
    op.blocking = action.blocking;
    op.axes = axes();
    op.peer = other % pipeline_.ranks;
    op.microbatch = action.microbatch;
    (sends ? op.elements_sent : op.elements_received) = boundary_elements(boundary);
    node.chunk = action.stage / pipeline_.ranks;
    if (!op.blocking) op.handle = next_handle_++;
    if (!op.blocking && !sends) waiting_[{action.stage, action.microbatch, action.backward}] = op.handle;
    return node;
  }

  std::int64_t boundary_elements(int stage) const {
    std::int64_t elements = 0;  // of the stage's last part
    for (std::size_t part = 0; part < stage_of_.size(); ++part)
      if (stage_of_[part] == stage) elements = draft_.works[part].output_elements;
    return elements;
  }

  AxisSet axes() const { return AxisSet{1} << use_.axis; }

  Draft& draft_;
  const PassUse& use_;
  const Pipeline pipeline_;
  const std::vector<int> stage_of_;
  std::map<Input, std::int32_t> waiting_;
  std::int32_t next_handle_ = 0;
};

void arrange(Draft& draft, const PassUse& use) {
  const Params p = read(use);
  const PipelineOrder& order =
      entry_called(orders::all(), p.schedule, use.where + " " + use.path + ".schedule");
  if (p.virtual_stages > 1 && !order.takes_chunks)
    throw UserError(use.where + " " + use.path + ".virtual_stages",
                    "schedule '" + p.schedule + "' has one stage per rank", "use schedule = \"interleaved\"");
  if (use.degree * p.virtual_stages > std::int64_t(draft.works.size()))
    throw UserError(use.where + " " + use.path,
                    std::to_string(use.degree * p.virtual_stages) + " stages, but '" + draft.step.model +
                        "' has " + std::to_string(draft.works.size()) + " parts",
                    "choose fewer stages");

  const Pipeline pipeline{int(use.degree), int(p.virtual_stages), int(p.microbatches),
                          draft.flavour == Flavour::pytorch};
  const std::vector<std::vector<PipelineAction>> actions = order.actions(pipeline);
  Builder builder(draft, use, pipeline, p.split);
  for (int rank = 0; rank < pipeline.ranks; ++rank)
    draft.roles.push_back(builder.role(rank, actions[std::size_t(rank)]));

  const auto tied_head = [](const Work& work) {
    return work.part.kind == PartKind::head && work.part.tensors.empty();
  };
  if (draft.flavour == Flavour::pytorch && pipeline.stages() > 1 &&
      std::ranges::any_of(draft.works, tied_head))
    draft.notes.emplace_back(
        "the head shares the embedding's weights: the last stage's copy is neither counted nor synchronised");
}

}  // namespace

extern constinit const Pass pipeline{
    .name = "pipeline",
    .summary = "layers cut into stages; micro-batches travel through them",
    .degree_name = "stages",
    .place = 50,
    .brings_samples = [](Flavour) { return false; },
    .options = [](Flavour) { return params.info(Params{}); },
    .microbatches = [](const PassUse& use) { return read(use).microbatches; },
    .arrange = arrange,
};

}  // namespace dlnb::passes
