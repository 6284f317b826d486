// SPDX-License-Identifier: Apache-2.0
// Slurm's node lists and topologies as text. Formats: slurm.schedmd.com, topology.conf(5), scontrol(1), hostlist
// functions. Keys are not case sensitive, `#` begins a comment, a `\` at its end continues a line.
#include "machine/slurm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include <dlnb/document.hpp>
#include <dlnb/error.hpp>

#include "machine/wiring.hpp"

namespace dlnb {
namespace {

constexpr std::size_t longest_number = 9;

/// Reads one node list from left to right.
class NodeList {
 public:
  NodeList(std::string_view text, const std::string& where, std::int64_t most)
      : text_(text), where_(where), most_(most) {}

  std::vector<std::string> read() {
    if (text_.empty()) refuse("is empty");
    for (;;) {
      entry();
      if (at_ == text_.size()) return std::move(names_);
      ++at_;  // the comma
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& problem) const {
    throw UserError(where_, fmt::format("the node list {} {}", in_quotes(text_), problem),
                    "for example n[1-4,7],m2");
  }

  void entry() {
    std::vector<std::string> found{""};
    bool any = false;
    for (; at_ < text_.size() && text_[at_] != ','; any = true) {
      if (text_[at_] == '[') {
        found = crossed(found, bracket());
      } else {
        const char c = text_[at_++];
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.')
          refuse(fmt::format("has {} in a name", in_quotes(std::string_view(&c, 1))));
        for (std::string& name : found) name += c;
      }
    }
    if (!any) refuse("has an empty name");
    for (std::string& name : found) {
      if (name.size() > 255) refuse("has a name of more than 255 letters");
      if (!seen_.insert(name).second) refuse(fmt::format("names {} twice", in_quotes(name)));
      names_.push_back(std::move(name));
    }
    check(std::int64_t(names_.size()));
  }

  void check(std::int64_t count) const {
    if (count > most_) refuse(fmt::format("has more than {} names", most_));
  }

  std::vector<std::string> crossed(const std::vector<std::string>& heads,
                                   const std::vector<std::string>& tails) {
    check(std::int64_t(heads.size()) * std::int64_t(tails.size()));
    std::vector<std::string> all;
    for (const std::string& head : heads)
      for (const std::string& tail : tails) all.push_back(head + tail);
    return all;
  }

  // "[1-3,07]" → 1 2 3 07
  std::vector<std::string> bracket() {
    std::vector<std::string> numbers;
    do {
      ++at_;
      const std::string_view first = digits();
      std::string_view last = first;
      if (at_ < text_.size() && text_[at_] == '-') ++at_, last = digits();
      const std::int64_t low = value(first), high = value(last);
      if (high < low) refuse(fmt::format("runs backwards from {} to {}", low, high));
      check(high - low + 1 + std::int64_t(numbers.size()));
      for (std::int64_t n = low; n <= high; ++n) numbers.push_back(fmt::format("{:0{}}", n, first.size()));
    } while (at_ < text_.size() && text_[at_] == ',');
    if (at_ == text_.size() || text_[at_] != ']') refuse("has no end to a bracket");
    ++at_;
    return numbers;
  }

  std::string_view digits() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    if (at_ == begin) refuse("lacks a number in a bracket");
    if (at_ - begin > longest_number)
      refuse(fmt::format("has a number of more than {} digits", longest_number));
    return text_.substr(begin, at_ - begin);
  }
  static std::int64_t value(std::string_view number) {
    std::int64_t result = 0;
    std::from_chars(number.data(), number.data() + number.size(), result);
    return result;
  }

  std::string_view text_;
  const std::string& where_;
  std::int64_t most_;
  std::size_t at_ = 0;
  std::vector<std::string> names_;
  std::unordered_set<std::string> seen_;
};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  return result;
}

/// One switch as it was written.
struct Entry {
  std::string where, name, nodes, switches;
};

constexpr std::string_view ignored_keys[] = {"linkspeed", "level", "blockindex", "blocksize"};

// "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[1-4]"; nothing where the line says nothing about a switch.
bool parse_line(std::string_view line, const std::string& where, Entry& entry) {
  entry = {where, {}, {}, {}};
  bool any = false;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t begin = line.find_first_not_of(" \t\r", at);
    if (begin == std::string_view::npos) break;
    at = std::min(line.find_first_of(" \t\r", begin), line.size());
    const std::string_view word = line.substr(begin, at - begin);
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0)
      throw UserError(where, fmt::format("{} is no Key=value", in_quotes(word)),
                      "for example SwitchName=leaf1 Nodes=n[1-4]");
    const std::string key = lower(word.substr(0, equals));
    const std::string value(word.substr(equals + 1));
    if (!any && key == "blocksizes") return false;
    any = true;
    std::string* member = key == "switchname" || key == "blockname" ? &entry.name
                          : key == "nodes"                          ? &entry.nodes
                          : key == "switches"                       ? &entry.switches
                                                                    : nullptr;
    if (!member) {
      if (std::ranges::find(ignored_keys, key) != std::end(ignored_keys)) continue;
      throw UserError(where, fmt::format("nothing is called {}", in_quotes(word.substr(0, equals))),
                      "SwitchName, Nodes, Switches, LinkSpeed, Level; BlockName, BlockSizes");
    }
    if (!member->empty()) throw UserError(where, fmt::format("{} is said twice", word.substr(0, equals)));
    if (value.empty()) throw UserError(where, fmt::format("{} is empty", word.substr(0, equals)));
    *member = value;
  }
  if (!any) return false;
  if (entry.name.empty()) throw UserError(where, "a line names its SwitchName (or BlockName)");
  if (entry.nodes.empty() && entry.switches.empty())
    throw UserError(where, fmt::format("{} has neither Nodes nor Switches", in_quotes(entry.name)));
  return true;
}

std::vector<Entry> parse_lines(std::string_view text, const std::string& name) {
  std::vector<Entry> entries;
  std::string joined;
  int number = 0, begun = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (joined.empty()) begun = number;
    line = line.substr(0, line.find('#'));
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r'))
      line.remove_suffix(1);
    const bool goes_on = !line.empty() && line.back() == '\\';
    if (goes_on) line.remove_suffix(1);
    joined += line;
    if (goes_on && at < text.size()) {
      joined += ' ';
      continue;
    }
    if (Entry entry; parse_line(joined, fmt::format("{}:{}", name, begun), entry))
      entries.push_back(std::move(entry));
    joined.clear();
  }
  return entries;
}

void hang_switches(const std::vector<Entry>& entries, SlurmTree& tree) {
  std::unordered_map<std::string, int> number;
  for (std::size_t s = 0; s < entries.size(); ++s) {
    if (!number.emplace(entries[s].name, int(s)).second)
      throw UserError(entries[s].where,
                      fmt::format("a switch {} has been named already", in_quotes(entries[s].name)));
    tree.switches.push_back({entries[s].name, -1, entries[s].switches.empty() ? 0 : 1, {}});
  }
  for (std::size_t s = 0; s < entries.size(); ++s) {
    if (entries[s].switches.empty()) continue;
    for (const std::string& child :
         slurm_node_list(entries[s].switches, entries[s].where, most_named_nodes)) {
      const auto found = number.find(child);
      if (found == number.end())
        throw UserError(entries[s].where, fmt::format("no line describes the switch {}", in_quotes(child)));
      SlurmSwitch& below = tree.switches[std::size_t(found->second)];
      if (below.parent >= 0)
        throw UserError(entries[s].where,
                        fmt::format("{} hangs on {} already; only trees are modelled", in_quotes(child),
                                    in_quotes(tree.switches[std::size_t(below.parent)].name)));
      below.parent = int(s);
    }
  }
}

// Each switch above all below it, from the lowest upwards; what hangs in a circle is never reached.
void find_levels(const std::vector<Entry>& entries, SlurmTree& tree) {
  std::vector<int> waiting(entries.size(), 0);  // for so many switches below
  for (const SlurmSwitch& each : tree.switches)
    if (each.parent >= 0) ++waiting[std::size_t(each.parent)];
  std::vector<std::size_t> ready;
  for (std::size_t s = 0; s < entries.size(); ++s)
    if (waiting[s] == 0) ready.push_back(s);
  for (std::size_t next = 0; next < ready.size(); ++next) {
    const SlurmSwitch& below = tree.switches[ready[next]];
    if (below.parent < 0) continue;
    SlurmSwitch& above = tree.switches[std::size_t(below.parent)];
    above.level = std::max(above.level, below.level + 1);
    if (--waiting[std::size_t(below.parent)] == 0) ready.push_back(std::size_t(below.parent));
  }
  if (ready.size() == entries.size()) return;
  const auto circle = std::ranges::find_if(waiting, [](int count) { return count > 0; });
  throw UserError(entries[std::size_t(circle - waiting.begin())].where,
                  "its switches hang on each other in a circle");
}

using SwitchOf = std::unordered_map<std::string, std::size_t>;

// `scontrol` repeats the nodes of all below; any other node would hang on no first-level switch.
void check_repeated_nodes(const std::vector<Entry>& entries, const SlurmTree& tree, const SwitchOf& leaf_of) {
  for (std::size_t s = 0; s < entries.size(); ++s) {
    if (entries[s].switches.empty() || entries[s].nodes.empty()) continue;
    for (const std::string& node : slurm_node_list(entries[s].nodes, entries[s].where, most_named_nodes)) {
      const auto leaf = leaf_of.find(node);
      int at = leaf == leaf_of.end() ? -1 : int(leaf->second);
      while (at >= 0 && at != int(s)) at = tree.switches[std::size_t(at)].parent;
      if (at < 0)
        throw UserError(entries[s].where,
                        fmt::format("the node {} hangs on none of the Switches of {}", in_quotes(node),
                                    in_quotes(entries[s].name)),
                        "nodes hang on switches that have no Switches; give these a switch of their own");
    }
  }
}

void join_tops(SlurmTree& tree) {
  std::vector<std::size_t> tops;
  int level = 0;
  for (std::size_t s = 0; s < tree.switches.size(); ++s) {
    level = std::max(level, tree.switches[s].level);
    if (tree.switches[s].parent < 0) tops.push_back(s);
  }
  if (tops.size() < 2) return;
  for (const std::size_t top : tops) tree.switches[top].parent = int(tree.switches.size());
  tree.switches.push_back({"", -1, level + 1, {}});
}

}  // namespace

std::vector<std::string> slurm_node_list(std::string_view text, const std::string& where, std::int64_t most) {
  return NodeList(text, where, most).read();
}

SlurmTree parse_slurm_topology(std::string_view text, const std::string& name) {
  const std::vector<Entry> entries = parse_lines(text, name);
  if (entries.empty())
    throw UserError(name, "describes no switch", "topology.conf, or what `scontrol show topology` prints");
  SlurmTree tree;
  hang_switches(entries, tree);
  find_levels(entries, tree);
  SwitchOf switch_of;
  for (std::size_t s = 0; s < entries.size(); ++s) {
    if (!entries[s].switches.empty()) continue;
    for (std::string& node : slurm_node_list(entries[s].nodes, entries[s].where, most_named_nodes)) {
      const auto [found, fresh] = switch_of.emplace(node, s);
      if (!fresh)
        throw UserError(entries[s].where, fmt::format("the node {} hangs on {} already", in_quotes(node),
                                                      in_quotes(entries[found->second].name)));
      tree.switches[s].nodes.push_back(int(tree.nodes.size()));
      tree.nodes.push_back(std::move(node));
    }
  }
  if (tree.nodes.empty()) throw UserError(name, "no node hangs on any switch");
  check_repeated_nodes(entries, tree, switch_of);
  join_tops(tree);
  return tree;
}

SlurmTree read_slurm_topology(const std::filesystem::path& file, const std::string& where) {
  const std::string name = in_quotes(file.string());
  std::error_code failed;
  const std::filesystem::file_status status = std::filesystem::status(file, failed);
  if (status.type() == std::filesystem::file_type::not_found)
    throw UserError(where, fmt::format("there is no file {}", name),
                    "it is looked for beside the machine file");
  if (!std::filesystem::is_regular_file(status))  // opening a pipe would wait for a writer
    throw UserError(where, fmt::format("{} is no file that can be read", name));
  const auto size = std::filesystem::file_size(file, failed);
  std::ifstream stream(file, std::ios::binary);
  if (failed || !stream) throw UserError(where, fmt::format("cannot read {}", file.string()));
  if (size > std::uintmax_t(largest_document))
    throw UserError(file.string(),
                    fmt::format("has {} bytes; a topology has at most {}", size, largest_document));
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  return parse_slurm_topology(text, file.string());
}

}  // namespace dlnb
