// SPDX-License-Identifier: Apache-2.0
#include "executor/live/testbed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include <dlnb/document.hpp>
#include <dlnb/error.hpp>
#include <dlnb/options.hpp>

namespace dlnb {
namespace {

namespace fs = std::filesystem;

// Where testbed/testbed keeps what it has brought up.
constexpr const char* folder = "/run/dlnb-testbed";

std::string text_at(const Value& table, const char* key) {
  std::string text;
  if (const Value* value = table.find(key)) read_value(*value, key, text);
  return text;
}

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    parts.emplace_back(list.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return parts;
}

}  // namespace

Testbed find_testbed(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string name = text.substr(0, colon);
  const fs::path file = fs::path(folder) / name / "testbed.json";
  std::error_code failure;
  const bool there = name.find('/') == std::string::npos && fs::is_regular_file(file, failure);
  const Value state = there ? read_document(file) : Value();
  if (!there || text_at(state, "state") != "up")
    throw Unavailable("--testbed", fmt::format("no testbed called {} is up", in_quotes(name)),
                      fmt::format("as root: testbed/testbed up {}", name));

  Testbed testbed{.agent = text_at(state, "agent")};
  if (const Value* hosts = state.find("hosts")) read_value(*hosts, "hosts", testbed.hosts);
  if (colon == text.size()) return testbed;
  std::vector<std::string> chosen = parts_of(std::string_view(text).substr(colon + 1));
  for (auto host = chosen.begin(); host != chosen.end(); ++host) {
    if (std::ranges::find(testbed.hosts, *host) == testbed.hosts.end())
      throw UserError("--testbed", fmt::format("{} has no host called {}", name, in_quotes(*host)),
                      choose_one_of(*host, testbed.hosts));
    if (std::find(chosen.begin(), host, *host) != host)
      throw UserError("--testbed", in_quotes(*host) + " is there twice");
  }
  testbed.hosts = std::move(chosen);
  return testbed;
}

}  // namespace dlnb
