// SPDX-License-Identifier: Apache-2.0
#include <dlnb/document.hpp>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <unordered_map>

#include <dlnb/error.hpp>
#include <fmt/format.h>

namespace dlnb {
namespace {

constexpr std::size_t longest_quotation = 60;
constexpr std::size_t longest_key = 120;

// "message_scale" and "--message-scale" name the same thing.
bool ends_with_key(std::string_view option, std::string_view key) {
  const auto same = [](char a, char b) { return (a == '-' ? '_' : a) == (b == '-' ? '_' : b); };
  if (key.empty() || option.size() < key.size()) return key.empty();
  const std::size_t start = option.size() - key.size();
  const bool whole = start == 0 || option[start - 1] == '-' || option[start - 1] == ' ';
  return whole && std::equal(key.begin(), key.end(), option.begin() + std::ptrdiff_t(start), same);
}

std::pair<std::string_view, std::string_view> split_head(std::string_view path) {
  const std::size_t dot = path.find('.');
  return dot == std::string_view::npos ? std::pair{path, std::string_view{}}
                                       : std::pair{path.substr(0, dot), path.substr(dot + 1)};
}

std::string read_whole(const std::filesystem::path& file, const std::string& name) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::not_found) throw UserError(name, "there is no such file");
  if (error) throw UserError(name, "cannot be read: " + error.message());
  if (std::filesystem::is_directory(status)) throw UserError(name, "is a folder, not a file");
  if (!std::filesystem::is_regular_file(status))
    throw UserError(name, "is not a regular file",
                    "configuration is not read from pipes, sockets or devices");
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (error) throw UserError(name, "cannot be read: " + error.message());
  if (size > std::uintmax_t(largest_document))
    throw UserError(name,
                    fmt::format("has {} bytes; a configuration file has at most {}", size, largest_document));

  std::ifstream in(file, std::ios::binary);
  if (!in) throw UserError(name, std::string("cannot be read: ") + std::strerror(errno));
  std::string text(std::size_t(size), '\0');
  in.read(text.data(), std::streamsize(text.size()));
  if (in.bad()) throw UserError(name, std::string("cannot be read: ") + std::strerror(errno));
  text.resize(std::size_t(in.gcount()));
  return text;
}

}  // namespace

const Value::Table& Value::table(std::string_view key) const {
  if (const auto* table = std::get_if<Table>(&data_)) return *table;
  throw UserError(where_of(*this, key), "expected a table, found " + describe(*this));
}

const Value::Array& Value::array(std::string_view key) const {
  if (const auto* array = std::get_if<Array>(&data_)) return *array;
  throw UserError(where_of(*this, key), "expected a list, found " + describe(*this));
}

const Value* Value::find(std::string_view key) const {
  const auto* table = std::get_if<Table>(&data_);
  if (!table) return nullptr;
  const auto member =
      std::find_if(table->begin(), table->end(), [&](const auto& m) { return m.first == key; });
  return member == table->end() ? nullptr : &member->second;
}

const Value* Value::find_path(std::string_view path) const {
  const auto [head, rest] = split_head(path);
  const Value* member = find(head);
  return member && !rest.empty() ? member->find_path(rest) : member;
}

void Value::set_path(std::string_view path, Value value) {
  const auto [head, rest] = split_head(path);
  if (head.empty() || (rest.empty() && path.size() != head.size()))
    throw UserError(value.where(), "a key of a dotted path is empty");
  if (empty()) *this = Value(Table{}, value.where());
  auto* table = std::get_if<Table>(&data_);
  if (!table)
    throw UserError(value.where(),
                    fmt::format("'{}' is {} ({}), not a table", path, describe(*this), where_));

  auto member = std::find_if(table->begin(), table->end(), [&](const auto& m) { return m.first == head; });
  if (member == table->end()) member = table->insert(table->end(), {std::string(head), Value()});
  if (rest.empty()) member->second = std::move(value);
  else member->second.set_path(rest, std::move(value));
}

void Value::merge(const Value& other) {
  auto* mine = std::get_if<Table>(&data_);
  const auto* theirs = std::get_if<Table>(&other.data_);
  if (!mine || !theirs) {
    if (!other.empty()) *this = other;
    return;
  }
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < mine->size(); ++i) places.emplace((*mine)[i].first, i);
  for (const auto& [key, value] : *theirs) {
    const auto [place, is_new] = places.emplace(key, mine->size());
    if (is_new) mine->emplace_back(key, value);
    else (*mine)[place->second].second.merge(value);
  }
}

std::string where_of(const Value& value, std::string_view key) {
  const std::string& where = value.where();
  if (where.empty()) return printable(key, longest_key);
  if (where.starts_with("--") && ends_with_key(where, key)) return where;
  return key.empty() ? where : where + " " + printable(key, longest_key);
}

std::string in_quotes(std::string_view text) { return "'" + printable(text, longest_quotation) + "'"; }

std::string describe(const Value& value) {
  struct Words {
    using Array = Value::Array;
    using Table = Value::Table;
    std::string operator()(std::monostate) const { return "nothing"; }
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t i) const { return fmt::format("the integer {}", i); }
    std::string operator()(double d) const { return fmt::format("the number {}", d); }
    std::string operator()(const std::string& s) const { return "the text " + in_quotes(s); }
    std::string operator()(const Array&) const { return "a list"; }
    std::string operator()(const Table&) const { return "a table"; }
  };
  return std::visit(Words{}, value.data());
}

Value read_document(const std::filesystem::path& file) { return read_document(file, file.string()); }

Value read_document(const std::filesystem::path& file, const std::string& name) {
  const std::string extension = file.extension().string();
  const std::string text = read_whole(file, name);
  if (extension == ".toml") return parse_toml(text, name);
  if (extension == ".json") return parse_json(text, name);
  throw UserError(name, "is neither a .toml nor a .json file");
}

void reject_unknown(const Value& table, std::string_view path, const std::vector<std::string>& known) {
  for (const auto& [key, value] : table.table(path)) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string full = path.empty() ? key : std::string(path) + "." + key;
    throw UserError(where_of(value, full), "nothing is called " + in_quotes(key), choose_one_of(key, known));
  }
}

}  // namespace dlnb
