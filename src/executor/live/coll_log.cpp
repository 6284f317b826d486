// SPDX-License-Identifier: Apache-2.0
// The file is a sequence of blocks: kind, bytes, content. Only processes of one program read it.
#include "executor/live/coll_log.hpp"

#include <cstring>
#include <iterator>
#include <span>
#include <type_traits>

namespace dlnb {
namespace {

namespace fs = std::filesystem;

enum Kind : int { library, cases, note, row };

struct BlockHead {
  std::int64_t kind, bytes;
};

/// A row without its series.
struct Numbers {
  CollOperation operation;
  DataType dtype;
  bool in_place, has_wrong, has_overlap;
  CollShape shape;
  std::int64_t ranks, iterations, wrong;
  double time, low, high;
  CollOverlap overlap;
};
static_assert(std::is_trivially_copyable_v<CollCase> && std::is_trivially_copyable_v<Numbers>);

fs::path file_in(const fs::path& folder) { return folder / "rows"; }

template <class T>
void put(std::string& bytes, const T* data, std::size_t count) {
  bytes.append(reinterpret_cast<const char*>(data), count * sizeof(T));
}

template <class T>
std::vector<T> values_in(std::span<const char> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

CollRow row_in(std::span<const char> bytes) {
  Numbers numbers;
  std::memcpy(&numbers, bytes.data(), sizeof numbers);
  CollRow row{.operation = numbers.operation,
              .ranks = numbers.ranks,
              .dtype = numbers.dtype,
              .in_place = numbers.in_place,
              .shape = numbers.shape,
              .iterations = numbers.iterations,
              .time = numbers.time,
              .low = numbers.low,
              .high = numbers.high};
  if (numbers.has_wrong) row.wrong = numbers.wrong;
  if (numbers.has_overlap) row.overlap = numbers.overlap;
  row.series = values_in<double>(bytes.subspan(sizeof numbers));
  set_bandwidths(row);
  return row;
}

}  // namespace

CollLog::CollLog(const fs::path& folder, const std::string& library_text,
                 const std::vector<CollCase>& all_cases) {
  if (folder.empty()) return;
  file_ = file_in(folder);
  stream_.open(file_, std::ios::binary | std::ios::trunc);
  append(library, library_text);
  std::string bytes;
  put(bytes, all_cases.data(), all_cases.size());
  append(cases, bytes);
}

void CollLog::add(const CollRow& measured) {
  const Numbers numbers{.operation = measured.operation,
                        .dtype = measured.dtype,
                        .in_place = measured.in_place,
                        .has_wrong = measured.wrong.has_value(),
                        .has_overlap = measured.overlap.has_value(),
                        .shape = measured.shape,
                        .ranks = measured.ranks,
                        .iterations = measured.iterations,
                        .wrong = measured.wrong.value_or(0),
                        .time = measured.time,
                        .low = measured.low,
                        .high = measured.high,
                        .overlap = measured.overlap.value_or(CollOverlap{})};
  std::string bytes;
  put(bytes, &numbers, 1);
  put(bytes, measured.series.data(), measured.series.size());
  append(row, bytes);
}

void CollLog::add_note(const std::string& text) { append(note, text); }

void CollLog::append(int kind, const std::string& bytes) {
  const BlockHead head{kind, std::int64_t(bytes.size())};
  stream_.write(reinterpret_cast<const char*>(&head), sizeof head);
  stream_.write(bytes.data(), std::streamsize(bytes.size()));
  stream_.flush();
}

void CollLog::remove() {
  std::error_code ignored;
  if (!file_.empty()) fs::remove(file_, ignored);
}

std::optional<LoggedColl> read_coll_log(const fs::path& folder) {
  std::ifstream stream(file_in(folder), std::ios::binary);
  if (!stream) return std::nullopt;
  const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
  LoggedColl logged;
  for (std::span<const char> rest = bytes; rest.size() >= sizeof(BlockHead);) {
    BlockHead head;
    std::memcpy(&head, rest.data(), sizeof head);
    rest = rest.subspan(sizeof head);
    if (head.bytes < 0 || std::size_t(head.bytes) > rest.size()) break;
    const std::span<const char> content = rest.first(std::size_t(head.bytes));
    rest = rest.subspan(content.size());
    if (head.kind == library) logged.library.assign(content.begin(), content.end());
    if (head.kind == cases) logged.cases = values_in<CollCase>(content);
    if (head.kind == note) logged.notes.emplace_back(content.begin(), content.end());
    if (head.kind == row && content.size() >= sizeof(Numbers)) logged.rows.push_back(row_in(content));
  }
  return logged;
}

}  // namespace dlnb
