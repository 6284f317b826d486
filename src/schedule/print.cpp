// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "schedule/schedule.hpp"

namespace dlnb {
namespace {

std::string role_title(const Schedule& schedule, const Program& program) {
  const std::size_t roles = schedule.programs.size();
  if (roles == 1) return "every rank";
  const std::string place = program.role == 0                         ? "first stage"
                            : program.role == std::int64_t(roles) - 1 ? "last stage"
                                                                      : "middle stage";
  return fmt::format("stage {} of {} ({})", program.role, roles, place);
}

std::string tags(const Operation& op) {
  std::string text;
  if (op.microbatch != nothing) text += fmt::format(" micro-batch {}", op.microbatch);
  if (op.layer != nothing) text += fmt::format(" layer {}", op.layer);
  if (op.unit != nothing) text += fmt::format(" unit {}", op.unit);
  return text;
}

std::string sizes(const Schedule& schedule, const Operation& op) {
  const std::int64_t each = message_elements(op, schedule.grid.size(op.axes));
  return fmt::format("{} x {} = {}", each, name_of(op.dtype), to_text(Bytes{each * size_of(op.dtype)}));
}

std::string line(const Schedule& schedule, const Operation& op) {
  std::string text = fmt::format("  {}", name_of(op.kind));
  if (op.kind == OperationKind::compute) {
    text += fmt::format(" {}{}", name_of(op.phase), tags(op));
    if (op.has_part) text += fmt::format(" {}", name_of(op.part));
    return text + "  " + to_text(op.cost.time);
  }
  text += " " + schedule.grid.text(op.axes);
  if (op.kind == OperationKind::wait) return text + fmt::format(" #{}{}", op.handle, tags(op));
  if (op.kind == OperationKind::wait_all) return text;
  if (op.kind == OperationKind::send) text += fmt::format(" to {}", op.peer);
  if (op.kind == OperationKind::recv) text += fmt::format(" from {}", op.peer);
  text += fmt::format(" {}{}  {}", name_of(op.phase), tags(op), sizes(schedule, op));
  if (!op.blocking) text += fmt::format("  non-blocking #{}", op.handle);
  if (op.ahead) text += " ahead";
  return text;
}

nlohmann::ordered_json optional(std::int32_t number) {
  return number == nothing ? nlohmann::ordered_json() : nlohmann::ordered_json(number);
}

nlohmann::ordered_json json_of(const Schedule& schedule, std::int64_t rank, const Operation& op) {
  nlohmann::ordered_json json;
  json["operation"] = name_of(op.kind);
  json["phase"] = name_of(op.phase);
  json["layer"] = optional(op.layer);
  json["microbatch"] = optional(op.microbatch);
  json["unit"] = optional(op.unit);
  json["axis"] = op.axes ? nlohmann::ordered_json(schedule.grid.text(op.axes)) : nlohmann::ordered_json();
  json["group"] = op.axes ? nlohmann::ordered_json(schedule.grid.group(rank, op.axes).ranks())
                          : nlohmann::ordered_json::array();
  json["peer"] =
      is_message(op.kind) ? nlohmann::ordered_json(peer_of(schedule, rank, op)) : nlohmann::ordered_json();
  json["elements_sent"] = op.elements_sent;
  json["elements_received"] = op.elements_received;
  json["dtype"] = moves_data(op.kind) ? nlohmann::ordered_json(name_of(op.dtype)) : nlohmann::ordered_json();
  json["blocking"] = op.blocking;
  json["handle"] = optional(op.handle);
  if (op.kind == OperationKind::compute) {
    json["part"] = op.has_part ? nlohmann::ordered_json(name_of(op.part)) : nlohmann::ordered_json();
    json["seconds"] = op.cost.time.value;
    json["flops"] = op.cost.work.value;
  }
  return json;
}

}  // namespace

std::string print_text(const Schedule& schedule, const std::vector<std::int64_t>& roles) {
  std::string text = fmt::format("plan {} of {} on {}\ngrid", schedule.plan, schedule.model,
                                 counted(schedule.grid.ranks(), "rank"));
  for (const Axis& axis : schedule.grid.axes()) text += fmt::format(" {}={}", axis.name, axis.size);
  text += fmt::format("\nglobal batch {} samples\n", schedule.global_batch);
  for (const std::string& note : schedule.notes) text += fmt::format("note: {}\n", note);
  for (const std::int64_t role : roles) {
    const Program& program = schedule.programs[std::size_t(role)];
    text += fmt::format("\n{}: {} operations\n", role_title(schedule, program), program.operations.size());
    for (const Operation& op : program.operations) text += line(schedule, op) + "\n";
  }
  return text;
}

std::string print_json(const Schedule& schedule, const std::vector<std::int64_t>& ranks) {
  nlohmann::ordered_json json;
  json["schema"] = "dlnetbench.schedule/1";
  json["plan"] = schedule.plan;
  json["model"] = schedule.model;
  json["flavour"] = schedule.flavour == Flavour::paper ? "paper" : "pytorch";
  for (const Axis& axis : schedule.grid.axes())
    json["grid"].push_back({{"axis", axis.name}, {"size", axis.size}});
  json["global_batch"] = schedule.global_batch;
  json["notes"] = schedule.notes;
  json["ranks"] = nlohmann::ordered_json::array();
  for (const std::int64_t rank : ranks) {
    nlohmann::ordered_json one;
    one["rank"] = rank;
    one["role"] = schedule.role_of(rank);
    one["held_parameters"] = schedule.program_of(rank).held_parameters;
    one["operations"] = nlohmann::ordered_json::array();
    for (const Operation& op : schedule.program_of(rank).operations)
      one["operations"].push_back(json_of(schedule, rank, op));
    json["ranks"].push_back(std::move(one));
  }
  return json.dump() + "\n";
}

std::string print_csv(const Schedule& schedule, const std::vector<std::int64_t>& ranks) {
  std::string text =
      "rank,order,operation,phase,layer,microbatch,axis,group,peer,elements_sent,elements_received,dtype\n";
  const auto number = [](std::int32_t n) { return n == nothing ? std::string() : std::to_string(n); };
  for (const std::int64_t rank : ranks) {
    std::int64_t order = 0;
    for (const Operation& op : schedule.program_of(rank).operations) {
      std::string group;
      if (op.axes)
        for (const std::int64_t member : schedule.grid.group(rank, op.axes).ranks())
          group += (group.empty() ? "" : " ") + std::to_string(member);
      text += fmt::format(
          "{},{},{},{},{},{},{},{},{},{},{},{}\n", rank, order++, name_of(op.kind), name_of(op.phase),
          number(op.layer), number(op.microbatch), op.axes ? schedule.grid.text(op.axes) : "", group,
          is_message(op.kind) ? std::to_string(peer_of(schedule, rank, op)) : "", op.elements_sent,
          op.elements_received, moves_data(op.kind) ? name_of(op.dtype) : "");
    }
  }
  return text;
}

}  // namespace dlnb
