// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/report.hpp"
#include "report/web_page.hpp"

namespace dlnb {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

// A browser keeps a page of this size; beyond it a string of the page no longer fits in some.
constexpr std::uintmax_t most_bytes = 256u << 20;

constexpr std::string_view schema = "dlnetbench.result/1";
constexpr std::string_view how_to_write_one = "write one with `dlnetbench run … -o result.json` or `simulate`";

struct Member {
  const char* name;
  Json::value_t type;
};
constexpr std::array members = {
    Member{"kind", Json::value_t::string},      Member{"label", Json::value_t::string},
    Member{"valid", Json::value_t::boolean},    Member{"executor", Json::value_t::string},
    Member{"spec", Json::value_t::object},      Member{"machine", Json::value_t::object},
    Member{"metrics", Json::value_t::object},   Member{"operations", Json::value_t::array},
    Member{"iterations", Json::value_t::array}, Member{"ledger", Json::value_t::array},
    Member{"timeline", Json::value_t::object},  Member{"notes", Json::value_t::array},
    Member{"provenance", Json::value_t::object}};

std::string read(const fs::path& file, std::uintmax_t room) {
  std::error_code failure;
  const fs::file_status status = fs::status(file, failure);
  if (!fs::exists(status)) throw UserError(file.string(), "there is no such file");
  if (!fs::is_regular_file(status)) throw UserError(file.string(), "not a file", how_to_write_one);
  const std::uintmax_t size = fs::file_size(file, failure);
  if (failure) throw UserError(file.string(), failure.message());
  if (size > room)
    throw UserError(file.string(),
                    fmt::format("{} MiB more than fit: the results of one page may have {} MiB together",
                                ((size - room) >> 20) + 1, most_bytes >> 20),
                    "give fewer results, or results without a timeline");

  std::string text(size, '\0');
  std::ifstream stream(file, std::ios::binary);
  if (!stream || !stream.read(text.data(), static_cast<std::streamsize>(size)))
    throw UserError(file.string(), "cannot be read");
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  return text;
}

Json parse(const fs::path& file, const std::string& text) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw UserError(file.string(), "empty", how_to_write_one);
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                      error.byte, text.size())), '\n');
    const bool cut_off = error.byte >= text.size();
    throw UserError(fmt::format("{}:{}", file.string(), line),
                    cut_off ? fmt::format("the JSON ends too early, after {} bytes", text.size())
                            : fmt::format("not JSON at byte {}", error.byte),
                    cut_off ? "was the file still being written, or was the disk full?" : how_to_write_one);
  } catch (const Json::out_of_range&) {
    throw UserError(file.string(), "holds a number that is too large", how_to_write_one);
  }
}

void check(const fs::path& file, const Json& result) {
  const auto fail = [&](const std::string& member, const std::string& problem) {
    throw UserError(file.string() + (member.empty() ? "" : " " + member), problem, how_to_write_one);
  };
  if (!result.is_object()) fail("", fmt::format("is JSON, but {} and not a result", result.type_name()));
  const auto found = result.find("schema");
  if (found == result.end()) fail("schema", "missing: not a result of dlnetbench");
  if (*found != schema)
    fail("schema", fmt::format("is {}; this version reads \"{}\"", found->dump(-1, ' ', true), schema));
  for (const Member& member : members) {
    const auto value = result.find(member.name);
    if (value == result.end()) fail(member.name, "missing");
    if (value->type() != member.type)
      fail(member.name, fmt::format("is {}, not {}", value->type_name(), Json(member.type).type_name()));
  }
}

// In JSON a less-than sign stands only inside strings, where its escape means the same: nothing in a result can
// end the script.
void append_escaped(std::string& page, std::string_view json) {
  for (std::size_t begin = 0; begin < json.size();) {
    const std::size_t end = std::min(json.find('<', begin), json.size());
    page.append(json, begin, end - begin);
    if (end < json.size()) page += "\\u003c";
    begin = end + 1;
  }
}

}  // namespace

std::string html_report(const std::vector<fs::path>& results) {
  if (results.empty()) throw UserError("report", "no result given", how_to_write_one);
  const std::string_view page = web_page();
  const std::size_t tag = page.find(results_tag);
  DLNB_REQUIRE(tag != page.npos, "the page has a place for results");
  const std::size_t begin = tag + results_tag.size();
  const std::size_t end = page.find("</script>", begin);
  DLNB_REQUIRE(end != page.npos && page.find(results_tag, begin) == page.npos, "the page has one place for results");

  std::string report(page.substr(0, begin));
  std::uintmax_t room = most_bytes;
  const char* separator = "[";
  for (const fs::path& file : results) {
    const std::string text = read(file, room);
    check(file, parse(file, text));
    room -= text.size();
    report += separator;
    append_escaped(report, text);
    separator = ",";
  }
  report += "]";
  report += page.substr(end);
  return report;
}

}  // namespace dlnb
