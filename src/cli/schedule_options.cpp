// SPDX-License-Identifier: Apache-2.0
#include "cli/schedule_options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <dlnb/document.hpp>
#include <dlnb/error.hpp>
#include <dlnb/options.hpp>

#include "cli/run_options.hpp"
#include "pipeline.hpp"
#include "schedule/schedule.hpp"

namespace dlnb {
namespace {

std::int64_t number(const std::string& text, const std::string& option, std::int64_t count,
                    const char* of_what) {
  std::int64_t value = -1;
  try {
    read_value(parse_value(text, option), option, value);
  } catch (const UserError&) {
    throw UserError(option, fmt::format("expected a whole number, found {}", in_quotes(text)),
                    fmt::format("there are {} {}, 0 to {}", count, of_what, count - 1));
  }
  if (value < 0 || value >= count)
    throw UserError(option, fmt::format("{} is outside the schedule", value),
                    fmt::format("there are {} {}, 0 to {}", count, of_what, count - 1));
  return value;
}

bool is_number(const std::string& text) {
  return text.find_first_not_of("+-0123456789") == std::string::npos;
}

}  // namespace

std::vector<Argument> schedule_arguments() {
  std::vector<Argument> all = run_arguments(Purpose::schedule);
  all.push_back({.name = "--role",
                 .value = "ROLE",
                 .help = "first, middle, last, all, or a number: the ranks that share a program are a role",
                 .fallback = "all",
                 .known = [] { return std::vector<std::string>{"first", "middle", "last", "all"}; },
                 .group = "Which ranks"});
  all.push_back({.name = "--rank", .value = "N", .help = "the one rank to show", .group = "Which ranks"});
  return all;
}

Schedule schedule_from(const Arguments& given) {
  const RunSpec spec = spec_from(given, Purpose::schedule);
  refuse_simulated_keys(spec, "schedule");
  return lowered(make_schedule(spec), spec, {});
}

std::vector<std::int64_t> chosen_roles(const Arguments& given, const Schedule& schedule) {
  if (given.has("--rank") && given.has("--role"))
    throw UserError("--rank", "a rank has its own role, so --role says it twice", "give one of them");
  if (given.has("--rank"))
    return {schedule.role_of(number(given.text("--rank"), "--rank", schedule.grid.ranks(), "ranks"))};

  const std::int64_t roles = std::int64_t(schedule.programs.size());
  const std::string role = given.text("--role", "all");
  if (role == "first") return {0};
  if (role == "last") return {roles - 1};
  if (role == "middle") {
    if (roles < 3)
      throw UserError(
          "--role",
          fmt::format("there is no middle: the schedule has {} role{}", roles, roles == 1 ? "" : "s"),
          "choose one of: first, last, all");
    return {roles / 2};
  }
  if (role != "all") {
    if (!is_number(role))
      throw UserError(
          "--role", fmt::format("nothing is called {}", in_quotes(role)),
          choose_one_of(role, {"first", "middle", "last", "all"}) + fmt::format(", or 0 to {}", roles - 1));
    return {number(role, "--role", roles, "roles")};
  }
  std::vector<std::int64_t> all;
  for (std::int64_t each = 0; each < roles; ++each) all.push_back(each);
  return all;
}

std::vector<std::int64_t> chosen_ranks(const Arguments& given, const Schedule& schedule) {
  const std::vector<std::int64_t> roles = chosen_roles(given, schedule);
  if (given.has("--rank")) return {number(given.text("--rank"), "--rank", schedule.grid.ranks(), "ranks")};
  std::vector<std::int64_t> ranks;
  for (std::int64_t rank = 0; rank < schedule.grid.ranks(); ++rank)
    if (std::ranges::find(roles, schedule.role_of(rank)) != roles.end()) ranks.push_back(rank);
  return ranks;
}

}  // namespace dlnb
