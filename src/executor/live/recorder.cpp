// SPDX-License-Identifier: Apache-2.0
#include "executor/live/recorder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <dlnb/error.hpp>

#include "executor/live/hosts.hpp"
#include "executor/live/process.hpp"

namespace dlnb {
namespace {

namespace fs = std::filesystem;

static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

constexpr std::size_t page = 4096;
constexpr std::size_t ring_offset = (sizeof(RecorderHead) + page - 1) / page * page;

struct Span {
  std::int64_t begin, end;
};

std::size_t bytes_of_iteration(std::int64_t operations) {
  return sizeof(Span) + std::size_t(operations) * sizeof(Interval);
}

std::byte* slot(std::byte* data, const RecorderHead& head, std::int64_t iteration) {
  return data + ring_offset + std::size_t(iteration % head.capacity) * bytes_of_iteration(head.operations);
}

std::int64_t first_in_ring(std::int64_t completed, std::int64_t capacity) {
  return std::max<std::int64_t>(0, completed - (capacity - 1));
}

RankTrace copy_of(std::byte* data, const RecorderHead& head, std::int64_t begin, std::int64_t end) {
  RankTrace trace;
  trace.rank = head.rank;
  trace.compute_error = head.compute_error;
  trace.compute_error_ns = head.compute_error_ns;
  const auto operations = std::size_t(head.operations),
             count = std::size_t(std::max<std::int64_t>(0, end - begin));
  trace.intervals.resize(count * operations);
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* const from = slot(data, head, begin + std::int64_t(i));
    Span span;
    std::memcpy(&span, from, sizeof span);
    trace.iteration_begin.push_back(span.begin);
    trace.iteration_end.push_back(span.end);
    if (operations > 0)
      std::memcpy(trace.intervals.data() + i * operations, from + sizeof span, operations * sizeof(Interval));
  }
  return trace;
}

}  // namespace

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_), std::swap(size_, other.size_);
  return *this;
}

Mapping::~Mapping() {
  if (data_) munmap(data_, size_);
}

Mapping Mapping::create(const fs::path& file, std::size_t bytes) {
  int descriptor = -1;
  if (!file.empty()) {
    descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0) throw Unavailable(file.string(), std::strerror(errno));
    // A page that cannot be had later would end the process.
    if (const int failure = posix_fallocate(descriptor, 0, off_t(bytes)); failure != 0) {
      close(descriptor);
      unlink(file.c_str());
      throw Unavailable(file.string(), std::strerror(failure));
    }
  }
  const int flags = MAP_SHARED | MAP_POPULATE | (descriptor < 0 ? MAP_ANONYMOUS : 0);
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
  const int failure = errno;
  if (descriptor >= 0) close(descriptor);
  if (data == MAP_FAILED) throw Unavailable(file.empty() ? "memory" : file.string(), std::strerror(failure));
  Mapping mapping;
  mapping.data_ = static_cast<std::byte*>(data), mapping.size_ = bytes;
  return mapping;
}

Mapping Mapping::open(const fs::path& file) {
  Mapping mapping;
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return mapping;
  struct stat status{};
  if (fstat(descriptor, &status) == 0 && status.st_size > 0) {
    void* const data = mmap(nullptr, std::size_t(status.st_size), PROT_READ, MAP_SHARED, descriptor, 0);
    if (data != MAP_FAILED)
      mapping.data_ = static_cast<std::byte*>(data), mapping.size_ = std::size_t(status.st_size);
  }
  close(descriptor);
  return mapping;
}

Recorder::Recorder(const fs::path& folder, std::uint64_t run, std::int64_t rank, const std::string& library,
                   std::size_t operations, std::int64_t iterations, std::size_t most_bytes)
    : file_(folder.empty() ? fs::path() : record_file(folder, rank)) {
  const std::size_t each = bytes_of_iteration(std::int64_t(operations));
  // One more than is read: the slot behind the newest may be being written to.
  std::int64_t capacity =
      std::max<std::int64_t>(2, std::min(iterations, std::int64_t(most_bytes / each)) + 1);
  for (;; capacity = std::max<std::int64_t>(2, capacity / 2)) try {
      mapping_ = Mapping::create(file_, ring_offset + std::size_t(capacity) * each);
      break;
    } catch (const Unavailable&) {
      if (capacity == 2) throw;
    }
  head_ = new (mapping_.data()) RecorderHead;
  head_->run = run;
  head_->rank = rank;
  head_->process = getpid();
  head_->process_start = process_start(getpid());
  head_->host = facts_of_this_host().identity;
  process_space().copy(head_->space.data(), head_->space.size() - 1);
  library.copy(head_->library.data(), head_->library.size() - 1);
  head_->operations = std::int64_t(operations);
  head_->capacity = capacity;
  head_->magic.store(RecorderHead::expected_magic, std::memory_order_release);
}

Recorder::~Recorder() { enter(Stage::left); }

void Recorder::add_note(const std::string& note) {
  const std::size_t used = std::strlen(head_->notes.data());
  const std::string line = note + "\n";
  if (used + line.size() < head_->notes.size())
    std::memcpy(head_->notes.data() + used, line.data(), line.size());
}

void Recorder::add_offset(const Offset& offset) {
  const std::int64_t count = head_->offset_count.load(std::memory_order_relaxed);
  head_->offsets[std::size_t(count) % RecorderHead::most_offsets] = offset;
  head_->offset_count.store(count + 1, std::memory_order_release);
}

void Recorder::keep(std::int64_t begin, std::int64_t end, std::int64_t communication,
                    std::span<const Interval> intervals) {
  const std::int64_t completed = head_->completed.load(std::memory_order_relaxed);
  std::byte* const to = slot(mapping_.data(), *head_, completed);
  const Span span{begin, end};
  std::memcpy(to, &span, sizeof span);
  if (!intervals.empty()) std::memcpy(to + sizeof span, intervals.data(), intervals.size_bytes());
  // What follows may not be seen before this: an exchange, because a store holds back only what stands before it.
  head_->series_changing.exchange(1, std::memory_order_acq_rel);
  head_->series.add(end - begin, communication);
  head_->series_changing.store(0, std::memory_order_release);
  head_->completed.store(completed + 1, std::memory_order_release);
}

RankTrace Recorder::kept() const {
  const std::int64_t completed = head_->completed.load(std::memory_order_relaxed);
  return copy_of(mapping_.data(), *head_, first_in_ring(completed, head_->capacity), completed);
}

void Recorder::begin_iteration(std::int64_t iteration) {
  head_->place.at.store(Place::before_all, std::memory_order_release);
  head_->iteration.store(iteration, std::memory_order_release);
}

void Recorder::remove(bool with_folder) {
  std::error_code ignored;
  if (file_.empty()) return;
  fs::remove(file_, ignored);
  if (with_folder) fs::remove(file_.parent_path(), ignored);
}

bool Record::whole() const {
  if (mapping_.size() < ring_offset) return false;
  if (head().magic.load(std::memory_order_acquire) != RecorderHead::expected_magic) return false;
  return head().capacity >= 2 && head().operations >= 0 &&
         mapping_.size() >=
             ring_offset + std::size_t(head().capacity) * bytes_of_iteration(head().operations);
}

std::int64_t Record::first() const { return first_in_ring(last(), head().capacity); }

RankTrace Record::iterations(std::int64_t begin, std::int64_t end) const {
  return copy_of(mapping_.data(), head(), begin, end);
}

std::vector<Offset> Record::offsets() const {
  const std::int64_t count = head().offset_count.load(std::memory_order_acquire);
  std::vector<Offset> offsets;
  for (std::int64_t i = std::max<std::int64_t>(0, count - std::int64_t(RecorderHead::most_offsets));
       i < count; ++i)
    offsets.push_back(head().offsets[std::size_t(i) % RecorderHead::most_offsets]);
  return offsets;
}

fs::path record_file(const fs::path& folder, std::int64_t rank) {
  return folder / fmt::format("rank-{}.record", rank);
}

void clear_records(const fs::path& folder) {
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    if ((name.starts_with("rank-") && name.ends_with(".record")) || name == "diagnosis" || name == "rows")
      fs::remove(entry.path(), failure);
  }
}

std::optional<Record> read_record(const fs::path& folder, std::int64_t rank, std::uint64_t run) {
  Record record(Mapping::open(record_file(folder, rank)));
  if (!record.whole() || record.head().rank != rank || (run != 0 && record.head().run != run))
    return std::nullopt;
  return record;
}

std::vector<Record> read_records(const fs::path& folder, std::int64_t ranks, std::uint64_t run) {
  std::vector<Record> records;
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    if (auto record = read_record(folder, rank, run)) records.push_back(std::move(*record));
  return records;
}

}  // namespace dlnb
