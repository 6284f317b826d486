// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/report.hpp"
#include "report/schema.hpp"
#include "report/web_page.hpp"

namespace dlnb {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

// A browser keeps a page of this size; beyond it a string of the page no longer fits in some.
constexpr std::uintmax_t most_bytes = 256u << 20;

constexpr std::string_view how_to_write_one =
    "write one with `dlnetbench run … -o result.json` or `simulate`";

std::string where(const fs::path& file, const std::string& member) {
  return member.empty() ? file.string() : file.string() + ": " + member;
}

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

// Where the parser is, and how many members the open objects were given: an object that ends with fewer has
// one twice, and JSON says nothing about which of the two counts.
class Members {
 public:
  explicit Members(const fs::path& file) : file_(file) {}

  bool operator()(int, Json::parse_event_t event, Json& value) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start) {
      open_.push_back({});
    } else if (event == Event::key) {
      ++open_.back().count;
      open_.back().last = value.get_ref<const std::string&>();
    } else if (event == Event::object_end) {
      const std::size_t count = open_.back().count;
      open_.pop_back();
      if (value.size() != count) fail();
    }
    return true;
  }

 private:
  struct Object {
    std::size_t count = 0;
    std::string last;
  };

  [[noreturn]] void fail() const {
    std::string place;
    for (const Object& object : open_) place += (place.empty() ? "" : ".") + object.last;
    throw UserError(where(file_, place), "a member is there twice", how_to_write_one);
  }

  const fs::path& file_;
  std::vector<Object> open_;
};

Json parse(const fs::path& file, const std::string& text) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw UserError(file.string(), "empty", how_to_write_one);
  try {
    return Json::parse(text, Members(file));
  } catch (const Json::parse_error& error) {
    const auto line =
        1 + std::count(text.begin(),
                       text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size())), '\n');
    const bool cut_off = error.byte >= text.size();
    throw UserError(fmt::format("{}:{}", file.string(), line),
                    cut_off ? fmt::format("the JSON ends too early, after {} bytes", text.size())
                            : fmt::format("not JSON at byte {}", error.byte),
                    cut_off ? "was the file still being written, or was the disk full?" : how_to_write_one);
  } catch (const Json::out_of_range&) {
    throw UserError(file.string(), "holds a number that is too large", how_to_write_one);
  }
}

std::string brief(const Json& value) {
  return value.is_structured() ? value.type_name() : printable(value.dump(), 60);
}

void check(const fs::path& file, const Json& result) {
  static const Json schema = Json::parse(result_schema());
  // Which file this is comes first: another program's has nothing in common with the schema.
  const Json& version = schema.at("properties").at("schema").at("const");
  if (result.is_object() && !result.contains("schema"))
    throw UserError(where(file, "schema"), "missing: not a result of dlnetbench", how_to_write_one);
  if (result.is_object() && result.at("schema") != version) {
    const Json& found = result.at("schema");
    const bool is_table =
        found.is_string() && found.get_ref<const std::string&>().starts_with("dlnetbench.coll/");
    throw UserError(
        where(file, "schema"), fmt::format("is {}; this version reads {}", brief(found), version.dump()),
        is_table ? "tables of `coll` are not drawn; write them as CSV for a spreadsheet" : how_to_write_one);
  }
  for (const Violation& violation : violations(schema, result, 1))
    throw UserError(where(file, violation.where), violation.problem, how_to_write_one);
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
  std::string content;
  std::uintmax_t room = most_bytes;
  for (const fs::path& file : results) {
    const std::string text = read(file, room);
    check(file, parse(file, text));
    room -= text.size();
    content += content.empty() ? '[' : ',';
    append_escaped(content, text);
  }
  content += ']';

  const std::string_view page = web_page();
  const std::size_t tag = page.find(results_tag);
  DLNB_REQUIRE(tag != page.npos, "the page has a place for results");
  const std::size_t begin = tag + results_tag.size();
  const std::size_t end = page.find("</script>", begin);
  DLNB_REQUIRE(end != page.npos && page.find(results_tag, begin) == page.npos,
               "the page has one place for results");
  content.insert(0, page.substr(0, begin));
  content += page.substr(end);
  return content;
}

}  // namespace dlnb
