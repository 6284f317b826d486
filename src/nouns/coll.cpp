// SPDX-License-Identifier: Apache-2.0
#include <dlnb/coll.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace dlnb {

const char* name_of(CollOperation operation) {
  switch (operation) {
    case CollOperation::all_reduce: return "all-reduce";
    case CollOperation::all_gather: return "all-gather";
    case CollOperation::reduce_scatter: return "reduce-scatter";
    case CollOperation::all_to_all: return "all-to-all";
    case CollOperation::all_to_all_v: return "all-to-all-v";
    case CollOperation::broadcast: return "broadcast";
    case CollOperation::send_recv: return "send-recv";
    case CollOperation::barrier: return "barrier";
  }
  return "?";
}

OperationKind kind_of(CollOperation operation) {
  switch (operation) {
    case CollOperation::all_reduce: return OperationKind::all_reduce;
    case CollOperation::all_gather: return OperationKind::all_gather;
    case CollOperation::reduce_scatter: return OperationKind::reduce_scatter;
    case CollOperation::all_to_all:
    case CollOperation::all_to_all_v: return OperationKind::all_to_all;
    case CollOperation::broadcast: return OperationKind::broadcast;
    case CollOperation::send_recv: return OperationKind::send;
    case CollOperation::barrier: break;
  }
  return OperationKind::barrier;
}

const char* name_of(MessagePattern pattern) {
  switch (pattern) {
    case MessagePattern::ring: return "ring";
    case MessagePattern::ping_pong: return "ping-pong";
    case MessagePattern::one_way: return "one-way";
  }
  return "?";
}

const char* name_of(InPlace in_place) {
  switch (in_place) {
    case InPlace::no: return "no";
    case InPlace::yes: return "yes";
    case InPlace::both: return "both";
  }
  return "?";
}

const char* name_of(Grouping grouping) { return grouping == Grouping::contiguous ? "contiguous" : "strided"; }

const char* name_of(CollDefinitions definitions) {
  return definitions == CollDefinitions::osu ? "osu" : "nccl-tests";
}

std::vector<std::int64_t> sizes_of(const CollSpec& spec) {
  std::vector<std::int64_t> sizes;
  const std::int64_t last = spec.max_size.value;
  for (std::int64_t size = spec.min_size.value; size <= last;) {
    sizes.push_back(size);
    if (spec.step.value > 0) {
      if (size > last - spec.step.value) break;
      size += spec.step.value;
    } else {
      if (size == 0 || spec.factor < 2 || size > last / spec.factor) break;
      size *= spec.factor;
    }
  }
  return sizes;
}

namespace {

/// One member's part: a multiple of 16 bytes, or of elements where that would leave nothing.
std::int64_t part_of(std::int64_t elements, std::int64_t ranks, std::int64_t element_size) {
  const std::int64_t part = elements / ranks, aligned = part - part % (16 / element_size);
  return aligned > 0 ? aligned : part;
}

}  // namespace

CollShape shape_of(CollOperation operation, DataType dtype, std::int64_t size, std::int64_t ranks,
                   CollDefinitions definitions) {
  const std::int64_t element = size_of(dtype), elements = size / element;
  const auto of_parts = [&](bool sends_all, bool receives_all, bool message_is_part) {
    // OSU's size is already that of one part where its message is one.
    const std::int64_t part =
        definitions == CollDefinitions::osu && message_is_part ? elements : part_of(elements, ranks, element);
    CollShape shape{.count = part, .sent = sends_all ? part * ranks : part};
    shape.received = receives_all ? part * ranks : part;
    shape.bytes = part * ranks * element;
    shape.message = message_is_part ? part * element : shape.bytes;
    return shape;
  };
  switch (operation) {
    case CollOperation::all_gather: return of_parts(false, true, true);
    case CollOperation::reduce_scatter: return of_parts(true, false, false);
    case CollOperation::all_to_all:
    case CollOperation::all_to_all_v: return of_parts(true, true, true);
    case CollOperation::barrier: return {};
    default: return {elements, elements, elements, elements * element, elements * element};
  }
}

std::vector<std::int64_t> uneven_parts(std::int64_t elements, std::int64_t ranks, double skew) {
  // Cut at the rounded sums of the shares, so that the parts add up.
  std::vector<std::int64_t> parts;
  double shares = 0;
  for (std::int64_t member = 0, before = 0; member < ranks; ++member) {
    shares += 1 + skew * (ranks > 1 ? 2 * double(member) / double(ranks - 1) - 1 : 0);
    const std::int64_t until =
        member == ranks - 1 ? elements : std::llround(double(elements) * (shares / double(ranks)));
    parts.push_back(std::clamp<std::int64_t>(until, before, elements) - before);
    before += parts.back();
  }
  return parts;
}

double bus_factor(CollOperation operation, std::int64_t ranks) {
  const double others = double(ranks - 1) / double(std::max<std::int64_t>(ranks, 1));
  switch (operation) {
    case CollOperation::all_reduce: return 2 * others;
    case CollOperation::all_gather:
    case CollOperation::reduce_scatter:
    case CollOperation::all_to_all:
    case CollOperation::all_to_all_v: return others;
    default: return 1;
  }
}

void set_bandwidths(CollRow& row) {
  row.algorithm_bandwidth = row.time > 0 ? double(row.shape.bytes) / row.time : 0;
  row.bus_bandwidth = row.algorithm_bandwidth * bus_factor(row.operation, row.ranks);
}

std::vector<CollDefinition> definitions_of(const CollSpec& spec) {
  const bool osu = spec.definitions == CollDefinitions::osu;
  std::vector<CollDefinition> all{
      {"bytes",
       "all-reduce the vector; all-gather what a rank receives; reduce-scatter, all-to-all and all-to-all-v "
       "what a "
       "rank sends, all parts together; broadcast and send-recv the message (nccl-tests' size)"},
      {"message_bytes",
       "as bytes, but all-gather what a rank sends and all-to-all(-v) the mean of what it sends to one "
       "member (OSU's "
       "size)"},
      {"time",
       osu ? "every iteration is timed by itself with a barrier before it; a rank's mean over iterations, "
             "then the mean over ranks"
           : "after a barrier the iterations follow each other without one; a rank's time for all of them "
             "over their number, then the mean over ranks"},
      {"low", "of the ranks' means the least"},
      {"high", "of the ranks' means the largest"},
      {"algorithm_bandwidth", "bytes over time"},
      {"bus_bandwidth",
       "algorithm bandwidth times 2(n-1)/n for all-reduce, (n-1)/n for all-gather, reduce-scatter, "
       "all-to-all and "
       "all-to-all-v, 1 for others; n ranks of one group"},
      {"wrong",
       "elements that differed from what should have arrived, over all ranks, in one operation before and "
       "one after "
       "the timed ones; every element is compared"},
  };
  if (spec.overlap)
    all.push_back(
        {"overlap",
         "max(0, 1 - (overall - compute) / pure): pure is start and wait alone, compute as long as pure is "
         "then emulated between the two, overall is all three; means over ranks (OSU's overlap)"});
  if (spec.series)
    all.push_back(
        {"series", osu ? "of every iteration the slowest rank's time"
                       : "of every iteration the slowest rank's time, from the end of its previous one"});
  return all;
}

}  // namespace dlnb
