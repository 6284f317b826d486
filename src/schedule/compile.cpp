// SPDX-License-Identifier: Apache-2.0
// Step × plan → Schedule: the passes in their order, each along one axis of the process grid.
#include <algorithm>
#include <optional>

#include <dlnb/error.hpp>

#include "schedule/pass.hpp"
#include "schedule/schedule.hpp"

namespace dlnb {
namespace {

struct Turn {
  const Pass* pass;
  PassUse use;
};

constexpr std::int64_t most_ranks = 1 << 24;

// `pipeline = 8`, `data = "rest"` or `tensor = { degree = 4, volume = "paper" }` → degree (0: rest) and options.
Turn turn_of(const PassSpec& spec, Flavour flavour) {
  const std::string where = spec.options.where().empty() ? "--plan" : spec.options.where();
  const std::string path = "plan." + spec.pass;
  Turn turn{&entry_called(passes::all(), spec.pass, where + " plan"), {}};
  PassUse& use = turn.use;
  use.path = path;
  use.where = where;
  use.flavour = flavour;
  use.options = Value(Value::Table{}, spec.options.where());

  Value degree = spec.options;
  if (spec.options.is_table()) {
    degree = Value{};
    Value::Table others;
    for (const auto& [key, value] : spec.options.table())
      if (key == turn.pass->degree_name) degree = value;
      else others.emplace_back(key, value);
    use.options = Value(std::move(others), spec.options.where());
    if (degree.empty())
      throw UserError(
          where + " " + path, "says no " + std::string(turn.pass->degree_name),
          "add " + std::string(turn.pass->degree_name) + " = 8, or = \"rest\" for the ranks that are left");
  }
  if (degree.is_string() && std::get<std::string>(degree.data()) == "rest") {
    use.degree = 0;
    return turn;
  }
  const std::string key = path + (spec.options.is_table() ? "." + std::string(turn.pass->degree_name) : "");
  if (!degree.is_number())
    throw UserError(where_of(degree, key), "expected a number of ranks or \"rest\"",
                    "write for example " + spec.pass + " = 4");
  read_value(degree, key, use.degree);
  check_range(degree, key, double(use.degree), {1, double(most_ranks)});
  return turn;
}

std::vector<Turn> turns_of(const PlanSpec& plan) {
  std::vector<Turn> turns;
  for (const PassSpec& spec : plan.passes) {
    turns.push_back(turn_of(spec, plan.flavour));
    for (std::size_t i = 0; i + 1 < turns.size(); ++i)
      if (turns[i].pass == turns.back().pass)
        throw UserError(turns.back().use.where + " " + turns.back().use.path, "stands twice in the plan",
                        "keep one of them");
  }
  if (turns.empty()) throw UserError("--plan", "has no passes", choose_one_of("", names_of(passes::all())));
  std::ranges::sort(turns, {}, [](const Turn& t) { return t.pass->place; });
  return turns;
}

// Gradients must be summed somewhere: a plan whose ranks see different samples ends in a data pass.
void add_data_where_needed(std::vector<Turn>& turns, Flavour flavour) {
  bool data = false, samples = false;
  for (const Turn& turn : turns) {
    data = data || turn.pass->name == "data";
    samples = samples || turn.pass->name == "expert" || turn.pass->name == "context";
  }
  if (data || !samples) return;
  turns.push_back({&entry_called(passes::all(), "data", "plan"),
                   {.path = "plan.data", .where = "--plan", .flavour = flavour}});
}

ProcessGrid grid_of(std::vector<Turn>& turns, std::int64_t ranks) {
  if (ranks < 1 || ranks > most_ranks)
    throw UserError("--ranks", std::to_string(ranks) + " ranks are not possible",
                    "choose 1 to " + std::to_string(most_ranks));
  std::int64_t product = 1;
  Turn* rest = nullptr;
  std::string text;
  for (Turn& turn : turns) {
    if (turn.use.degree == 0) {
      if (rest)
        throw UserError(turn.use.where + " " + turn.use.path, "a second pass asks for the rest of the ranks",
                        "give one of them a number");
      rest = &turn;
      continue;
    }
    text +=
        (text.empty() ? "" : " x ") + std::string(turn.pass->name) + " " + std::to_string(turn.use.degree);
    product *= turn.use.degree;
    if (product > most_ranks)
      throw UserError(turn.use.where + " " + turn.use.path, "the plan needs too many ranks", "");
  }
  if (text.empty()) text = "1";
  if (ranks % product != 0 || (!rest && ranks != product))
    throw UserError("--ranks", std::to_string(ranks) + " ranks do not fit the plan (" + text + ")",
                    rest ? "choose a multiple of " + std::to_string(product)
                         : "choose " + std::to_string(product) + " ranks, or add data=rest to the plan");
  if (rest) rest->use.degree = ranks / product;

  std::vector<Axis> axes;
  for (Turn& turn : turns) {
    turn.use.axis = int(axes.size());
    axes.push_back({std::string(turn.pass->name), turn.use.degree});
  }
  return ProcessGrid(std::move(axes));
}

// Without a pipeline there is one role and one micro-batch.
void arrange_whole(Draft& draft) {
  Role role;
  for (std::size_t part = 0; part < draft.works.size(); ++part) role.parts.push_back(int(part));
  role.nodes = draft.forward;
  for (Node node : draft.backward) {
    node.last_backward = true;
    role.nodes.push_back(node);
  }
  draft.roles.push_back(std::move(role));
}

void count_held(Draft& draft) {
  share_amounts(draft);
  for (Role& role : draft.roles) {
    if (draft.flavour == Flavour::paper) {
      role.held = role.amount.total();
    } else {
      for (const int part : role.parts)
        for (const Tensor& tensor : draft.works[std::size_t(part)].part.tensors)
          role.held += tensor.elements();
    }
    role.updated = role.summed = role.held;
  }
}

// The update of what a rank holds, in front of whatever gathers updated parameters.
void add_optimizer(const Step& step, Role& role) {
  Node node;
  node.operation.kind = OperationKind::compute;
  node.operation.phase = Phase::optimise;
  node.operation.cost =
      step.optimizer * (double(role.updated) / double(std::max<std::int64_t>(step.parameters, 1)));
  const auto regather =
      std::ranges::find(role.nodes, Phase::optimise, [](const Node& n) { return n.operation.phase; });
  role.nodes.insert(regather, node);
}

}  // namespace

std::int64_t microbatches_of(const PlanSpec& plan) {
  std::int64_t microbatches = 1;
  for (const Turn& turn : turns_of(plan))
    if (turn.pass->microbatches) microbatches = turn.pass->microbatches(turn.use);
  return microbatches;
}

Schedule compile(const Step& step, const PlanSpec& plan, std::int64_t ranks) {
  std::vector<Turn> turns = turns_of(plan);
  add_data_where_needed(turns, plan.flavour);

  Draft draft{.step = step,
              .flavour = plan.flavour,
              .literal = plan.literal,
              .works = step.works,
              .tokens = step.microbatch_tokens(),
              .microbatches = step.microbatches};
  draft.grid = grid_of(turns, ranks);

  for (const Turn& turn : turns)
    if (turn.pass->divide) turn.pass->divide(draft, turn.use);
  if (step.price) step.price(draft.division, draft.works);
  draw_microbatch(draft);
  for (const Turn& turn : turns)
    if (turn.pass->inside) turn.pass->inside(draft, turn.use);
  for (const Turn& turn : turns)
    if (turn.pass->arrange) turn.pass->arrange(draft, turn.use);
  if (draft.roles.empty()) arrange_whole(draft);
  count_held(draft);
  // Beyond this point every role's list is complete but for parameters and gradients.
  for (const Turn& turn : turns)
    if (turn.pass->around) turn.pass->around(draft, turn.use);

  Schedule schedule;
  schedule.plan = plan.name;
  schedule.model = step.model;
  schedule.device = step.device;
  schedule.cost_model = step.cost_model;
  schedule.flavour = plan.flavour;
  schedule.grid = draft.grid;
  schedule.role_axis = draft.roles.size() > 1 ? draft.grid.find("pipeline") : nothing;
  schedule.global_batch = step.batch;
  for (const Turn& turn : turns)
    if (turn.pass->brings_samples(plan.flavour)) schedule.global_batch *= turn.use.degree;
  schedule.sequence = step.sequence;
  schedule.notes = step.notes;
  schedule.notes.insert(schedule.notes.end(), draft.notes.begin(), draft.notes.end());
  schedule.device_memory = step.device_memory;
  for (Role& role : draft.roles) add_optimizer(step, role);
  for (const Role& role : draft.roles)
    schedule.programs.push_back(
        {role.role, finish(role.nodes), role.held, memory_of(step, draft.works, role)});

  const std::vector<std::string> problems = check(schedule);
  DLNB_REQUIRE(problems.empty(),
               "a compiled schedule is sound: " + (problems.empty() ? "" : problems.front()));
  return schedule;
}

}  // namespace dlnb
