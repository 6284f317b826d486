// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <iterator>
#include <limits>
#include <unordered_set>

#include <dlnb/document.hpp>
#include <dlnb/error.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "nouns/text_check.hpp"

namespace dlnb {
namespace {

using Json = nlohmann::json;

// How far the parser has read; it tells no position with its events.
struct Reading {
  int line = 1;
  bool at_line_end =
      false;  ///< the last character read was a newline: a number ends only when it sees what follows

  int token_line() const { return at_line_end ? line - 1 : line; }
};

class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, Reading* reading) : at_(at), reading_(reading) {}

  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    reading_->at_line_end = *at_ == '\n';
    if (reading_->at_line_end) ++reading_->line;
    ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    const CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  Reading* reading_;
};

// Builds the tree from the parser's events, because the library's own tree forgets order, lines and
// duplicates.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, const std::string& name, const Reading& reading)
      : text_(text), name_(name), reading_(reading) {}

  Value take() { return std::move(root_); }

  bool null() override { return add({}); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(std::int64_t(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    return value <= std::uint64_t(std::numeric_limits<std::int64_t>::max()) ? add(std::int64_t(value))
                                                                            : add(double(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Value::Table{}); }
  bool start_array(std::size_t) override { return open(Value::Array{}); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& value) override {
    Level& level = levels_.back();
    if (!level.keys.insert(value).second)
      throw UserError(where(), "the key " + in_quotes(value) + " is there twice");
    level.key = std::move(value);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 2, column 3: syntax error while …"
    std::string_view message = error.what();
    if (const auto colon = message.find(": "); colon != std::string_view::npos)
      message.remove_prefix(colon + 2);
    else if (const auto bracket = message.find("] "); bracket != std::string_view::npos)
      message.remove_prefix(bracket + 2);
    const std::size_t last = position == 0 ? 0 : position - 1;
    throw UserError(fmt::format("{}:{}", name_, line_at(text_, last)), std::string(message));
  }

 private:
  struct Level {
    Value::Data data;
    std::string key;  ///< of this level's next member
    std::string where;
    std::unordered_set<std::string> keys;
  };

  std::string where() const { return fmt::format("{}:{}", name_, reading_.token_line()); }

  bool add(Value::Data data) { return place(Value(std::move(data), where())); }
  bool place(Value value) {
    if (levels_.empty()) root_ = std::move(value);
    else if (auto* array = std::get_if<Value::Array>(&levels_.back().data))
      array->push_back(std::move(value));
    else
      std::get<Value::Table>(levels_.back().data)
          .emplace_back(std::move(levels_.back().key), std::move(value));
    return true;
  }
  bool open(Value::Data data) {
    if (levels_.size() >= std::size_t(deepest_nesting))
      throw UserError(where(), fmt::format("nested deeper than {} levels", deepest_nesting));
    levels_.push_back({std::move(data), {}, where(), {}});
    return true;
  }
  bool close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    return place(Value(std::move(level.data), std::move(level.where)));
  }

  std::string_view text_;
  const std::string& name_;
  const Reading& reading_;
  std::vector<Level> levels_;
  Value root_;
};

}  // namespace

Value parse_json(std::string_view text, const std::string& name) {
  check_text(text, name);
  Reading reading;
  Builder builder(text, name, reading);
  Json::sax_parse(CountingIterator(text.data(), &reading),
                  CountingIterator(text.data() + text.size(), &reading), &builder);
  return builder.take();
}

}  // namespace dlnb
