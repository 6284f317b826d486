// SPDX-License-Identifier: Apache-2.0
#include "config/plan.hpp"

#include <algorithm>
#include <array>

#include <dlnb/error.hpp>
#include <dlnb/options.hpp>
#include <fmt/format.h>

#include "config/config.hpp"
#include "core/data.hpp"

namespace dlnb {
namespace {

constexpr const char* default_plan = "dp";
constexpr std::size_t most_passes = 16;

// What the file of a named plan holds.
struct PlanFile {
  std::string summary;
  std::string source;
  Flavour flavour = Flavour::paper;
  Value passes;
  Value paper;  // laid over `passes` in that flavour
  Value pytorch;
};

struct Passes {
  std::string_view name;
  Value PlanFile::* member;

  void read(const Value& value, std::string_view key, PlanFile& file) const {
    if (value.table(key).size() > most_passes)
      throw UserError(where_of(value, key),
                      fmt::format("has {} passes; at most {}", value.table().size(), most_passes));
    file.*member = value;
  }
};

constexpr auto plan_file = options(
    option("summary", &PlanFile::summary, "one line"), option("source", &PlanFile::source, "citation"),
    choice("flavour", &PlanFile::flavour, "whose program",
           std::array<Word<Flavour>, 2>{{{"paper", Flavour::paper}, {"pytorch", Flavour::pytorch}}}),
    Passes{"plan", &PlanFile::passes}, Passes{"paper", &PlanFile::paper},
    Passes{"pytorch", &PlanFile::pytorch});

std::filesystem::path find_plan(const std::string& name_or_file, const std::string& where) {
  try {
    return find_data("plans", name_or_file, where);
  } catch (const UserError& error) {
    throw UserError({}, error.what(),
                    error.hint() + (error.hint().empty() ? "" : "; ") +
                        "or write a composition, such as 'tensor=4,data=rest'");
  }
}

PlanFile read_plan_file(const std::string& name_or_file, const std::string& where) {
  const std::filesystem::path file = find_plan(name_or_file, where);
  // A shipped file is called the same wherever it is installed.
  const bool shipped = file.parent_path() == data_folder() / "plans";
  const Value document = read_document(file, shipped ? "plans/" + file.filename().string() : file.string());
  document.table();
  PlanFile plan;
  plan_file.read(document, "", plan);
  if (plan.passes.empty()) throw UserError(document.where(), "a plan file has a table [plan] of passes");
  return plan;
}

// `pipeline = 8` is short for stages, `tensor = 4` for degree.
Value pass_table(const std::string& pass, const Value& options) {
  if (options.is_table()) return options;
  return Value(Value::Table{{pass == "pipeline" ? "stages" : "degree", options}}, options.where());
}

void merge_pass(const std::string& pass, Value& below, const Value& above) {
  if (!below.is_table() && !above.is_table()) {
    below = above;
    return;
  }
  below = pass_table(pass, below);
  below.merge(pass_table(pass, above));
}

// An integer degree, "rest" or a table; what is in the table is the pass's own business.
void check_pass(const std::string& pass, const Value& options) {
  const std::string key = "plan." + pass;
  if (options.is_table()) return;
  if (const auto* degree = std::get_if<std::int64_t>(&options.data())) {
    check_range(options, key, double(*degree), {1, 1 << 24});
    return;
  }
  const auto* word = std::get_if<std::string>(&options.data());
  if (word && *word == "rest") return;
  throw UserError(where_of(options, key),
                  "expected a degree, 'rest' or a table of options, found " + describe(options));
}

std::string text_of(const Value& value) {
  if (const auto* truth = std::get_if<bool>(&value.data())) return write_value(*truth);
  if (const auto* integer = std::get_if<std::int64_t>(&value.data())) return write_value(*integer);
  if (const auto* number = std::get_if<double>(&value.data())) return write_value(*number);
  if (const auto* text = std::get_if<std::string>(&value.data())) return *text;
  std::string list;
  if (const auto* array = std::get_if<Value::Array>(&value.data())) {
    for (const Value& element : *array) list += (list.empty() ? "" : ",") + text_of(element);
    return "[" + list + "]";
  }
  if (value.is_table())
    for (const auto& [key, member] : value.table())
      list += (list.empty() ? "" : ",") + key + "=" + text_of(member);
  return "{" + list + "}";
}

std::string text_of(const std::vector<PassSpec>& passes) {
  std::string text;
  for (const PassSpec& pass : passes)
    text += (text.empty() ? "" : ",") + pass.pass + "=" + text_of(pass.options);
  return text;
}

[[noreturn]] void names_no_pass(const Value& plan) {
  throw UserError(where_of(plan, "plan"), "names no pass", "for example: data = \"rest\"");
}

[[noreturn]] void too_many_passes(const Value& plan, std::size_t count) {
  throw UserError(where_of(plan, "plan"), fmt::format("has {} passes; at most {}", count, most_passes));
}

Flavour flavour_of(AskedFlavour asked) {
  return asked == AskedFlavour::paper ? Flavour::paper : Flavour::pytorch;
}

}  // namespace

Value default_plan_table() { return plan_table(Value(std::string(default_plan), "")); }

Value plan_table(const Value& plan) {
  const auto* text = std::get_if<std::string>(&plan.data());
  if (!text) {
    if (!plan.is_table())
      throw UserError(where_of(plan, "plan"),
                      "expected a name or a table of passes, found " + describe(plan));
    if (plan.table().empty()) names_no_pass(plan);
    // Beside the name; asked before tables of that size are laid over each other.
    if (plan.table().size() > most_passes + 1) too_many_passes(plan, plan.table().size());
    return plan;
  }
  if (text->find_first_not_of(" \t") == std::string::npos)
    throw UserError(where_of(plan, "plan"), "must not be empty");
  if (text->find('=') == std::string::npos) return Value(Value::Table{{"name", plan}}, plan.where());
  // A composition replaces what a lower layer says, as a name does: its name is there and empty.
  const Value passes(parse_value("{" + *text + "}", where_of(plan, "plan")).data(), plan.where());
  if (passes.find("name"))
    throw UserError(where_of(plan, "plan"), "a composition has passes only, not a name",
                    "for a named plan: plan = \"dp\"");
  if (passes.table().empty()) names_no_pass(plan);
  if (passes.table().size() > most_passes) too_many_passes(plan, passes.table().size());
  Value::Table composition{{"name", Value(Value::Data{}, plan.where())}};
  composition.insert(composition.end(), passes.table().begin(), passes.table().end());
  return Value(std::move(composition), plan.where());
}

void merge_plan(Value& below, const Value& above) {
  if (below.empty() || above.find("name")) {
    below = above;
    return;
  }
  Value::Table merged = below.table("plan");
  for (const auto& [pass, options] : above.table("plan")) {
    const auto member =
        std::find_if(merged.begin(), merged.end(), [&](const auto& m) { return m.first == pass; });
    if (member == merged.end()) merged.emplace_back(pass, options);
    else merge_pass(pass, member->second, options);
  }
  below = Value(std::move(merged), below.where());
}

PlanSpec make_plan(const Value& table, AskedFlavour asked) {
  PlanSpec plan;
  const Value* name = table.find("name");
  Value passes(Value::Table{}, table.where());
  const bool composed = name ? name->empty() : !table.empty();
  if (!composed) {
    plan.name = default_plan;
    if (name) read_value(*name, "plan.name", plan.name);
    const PlanFile file = read_plan_file(plan.name, name ? where_of(*name, "plan") : "plan");
    plan.flavour = asked == AskedFlavour::automatic ? file.flavour : flavour_of(asked);
    passes = file.passes;
    const Value& own = plan.flavour == Flavour::paper ? file.paper : file.pytorch;
    if (!own.empty()) merge_plan(passes, own);
  } else {
    plan.flavour = asked == AskedFlavour::automatic ? Flavour::pytorch : flavour_of(asked);
  }
  if (!table.empty()) {
    Value::Table changes;
    for (const auto& [pass, options] : table.table("plan"))
      if (pass != "name") changes.emplace_back(pass, options);
    merge_plan(passes, Value(std::move(changes), table.where()));
  }

  const Value::Table& all = passes.table("plan");
  if (all.empty()) names_no_pass(table);
  if (all.size() > most_passes) too_many_passes(table, all.size());
  for (const auto& [pass, options] : all) {
    check_pass(pass, options);
    plan.passes.push_back({pass, options});
  }
  if (plan.name.empty()) plan.name = text_of(plan.passes);
  return plan;
}

std::vector<NamedPlan> shipped_plans() {
  std::vector<NamedPlan> plans;
  for (const std::string& name : data_names("plans")) {
    const PlanFile file = read_plan_file(name, "plans");
    plans.push_back({name, file.summary, file.source});
  }
  return plans;
}

}  // namespace dlnb
