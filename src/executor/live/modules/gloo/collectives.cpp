// SPDX-License-Identifier: Apache-2.0
#include "executor/live/modules/gloo/collectives.hpp"

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "executor/live/modules/gloo/failures.hpp"
#include "executor/live/modules/gloo/limits.hpp"
#include "executor/live/modules/gloo/slots.hpp"
#include "executor/live/reduction.hpp"

namespace dlnb::over_gloo {
namespace {

using Context = std::shared_ptr<::gloo::Context>;

std::size_t bytes_of(const Transfer& t, std::int64_t elements) {
  return std::size_t(elements * size_of(t.dtype));
}
// gloo takes what it only reads without const.
char* input_of(const Transfer& t) { return reinterpret_cast<char*>(const_cast<std::byte*>(t.send)); }
char* output_of(const Transfer& t) { return reinterpret_cast<char*>(t.receive); }

/// gloo's form of a sum: `out` may be one of the terms.
template <DataType type>
void sum(void* out, const void* a, const void* b, std::size_t elements) {
  if (out == b) std::swap(a, b);
  if (out != a) std::memcpy(out, a, elements * std::size_t(size_of(type)));
  reduction::add(type, static_cast<const std::byte*>(b), static_cast<std::byte*>(out),
                 std::int64_t(elements));
}

/// `Element` has the type's size; gloo adds nothing up itself.
template <DataType type, class Element>
void all_reduce(const Context& context, const Transfer& t, AllReduceAlgorithm algorithm,
                std::uint32_t number) {
  static_assert(sizeof(Element) == size_of(type));
  ::gloo::AllreduceOptions options(context);
  using Algorithm = ::gloo::AllreduceOptions::Algorithm;
  options.setAlgorithm(algorithm == AllReduceAlgorithm::bcube ? Algorithm::BCUBE : Algorithm::RING);
  const std::size_t elements = std::size_t(t.elements_received);
  if (t.send != t.receive) options.setInput(reinterpret_cast<Element*>(input_of(t)), elements);
  options.setOutput(reinterpret_cast<Element*>(output_of(t)), elements);
  options.setReduceFunction(sum<type>);
  options.setTag(number);
  options.setTimeout(no_limit);
  ::gloo::allreduce(options);
}

void all_reduce(const Context& context, const Transfer& t, AllReduceAlgorithm algorithm,
                std::uint32_t number) {
  switch (t.dtype) {
    case DataType::float32: return all_reduce<DataType::float32, float>(context, t, algorithm, number);
    case DataType::float16:
      return all_reduce<DataType::float16, std::uint16_t>(context, t, algorithm, number);
    case DataType::bfloat16:
      return all_reduce<DataType::bfloat16, std::uint16_t>(context, t, algorithm, number);
    case DataType::float8: return all_reduce<DataType::float8, std::uint8_t>(context, t, algorithm, number);
  }
}

void all_gather(const Context& context, const Transfer& t, std::uint32_t number) {
  ::gloo::AllgatherOptions options(context);
  const std::size_t shard = bytes_of(t, t.elements_sent);
  const bool in_place = input_of(t) == output_of(t) + std::size_t(context->rank) * shard;
  if (!in_place) options.setInput(input_of(t), shard);
  options.setOutput(output_of(t), bytes_of(t, t.elements_received));
  options.setTag(number);
  options.setTimeout(no_limit);
  ::gloo::allgather(options);
}

void all_to_all(const Context& context, const Transfer& t, std::uint32_t number) {
  if (t.parts_sent) {
    const auto bytes = [&](const std::int64_t* parts) {
      std::vector<std::int64_t> result(parts, parts + context->size);
      for (std::int64_t& part : result) part *= size_of(t.dtype);
      return result;
    };
    ::gloo::AlltoallvOptions options(context);
    options.setInput(input_of(t), bytes(t.parts_sent));
    options.setOutput(output_of(t), bytes(t.parts_received));
    options.setTag(number);
    options.setTimeout(no_limit);
    return ::gloo::alltoallv(options);
  }
  ::gloo::AlltoallOptions options(context);
  options.setInput(input_of(t), bytes_of(t, t.elements_sent));
  options.setOutput(output_of(t), bytes_of(t, t.elements_received));
  options.setTag(number);
  options.setTimeout(no_limit);
  ::gloo::alltoall(options);
}

void broadcast(const Context& context, const Transfer& t, std::uint32_t number) {
  ::gloo::BroadcastOptions options(context);
  options.setOutput(output_of(t), bytes_of(t, t.elements_received));
  options.setRoot(t.peer);
  options.setTag(number);
  options.setTimeout(no_limit);
  ::gloo::broadcast(options);
}

void barrier(const Context& context, std::uint32_t number) {
  ::gloo::BarrierOptions options(context);
  options.setTag(number);
  options.setTimeout(no_limit);
  ::gloo::barrier(options);
}

/// Of a group of one: every collective is a copy.
void copy(const Transfer& t) {
  if (t.send && t.send != t.receive && t.kind != OperationKind::broadcast)
    std::memcpy(t.receive, t.send, bytes_of(t, t.elements_received));
}

}  // namespace

const char* name_of(AllReduceAlgorithm algorithm) {
  return algorithm == AllReduceAlgorithm::bcube ? "bcube" : "ring";
}

AllReduceAlgorithm all_reduce_algorithm() {
  const char* const text = std::getenv("DLNETBENCH_GLOO_ALL_REDUCE");
  const std::string_view word = text ? text : "ring";
  for (const AllReduceAlgorithm algorithm : {AllReduceAlgorithm::ring, AllReduceAlgorithm::bcube})
    if (word == name_of(algorithm)) return algorithm;
  throw std::runtime_error("DLNETBENCH_GLOO_ALL_REDUCE is '" + std::string(word) + "'; choose ring or bcube");
}

void Collectives::run(const Transfer& t) {
  // gloo refuses some of the empty ones and divides by the size in others.
  if (t.kind != OperationKind::barrier && std::max(t.elements_sent, t.elements_received) == 0 &&
      !t.parts_sent)
    return;
  if (!context_) return copy(t);
  const std::uint32_t number = number_++;
  guarded([&] {
    switch (t.kind) {
      case OperationKind::all_reduce: return all_reduce(context_, t, algorithm_, number);
      case OperationKind::all_gather: return all_gather(context_, t, number);
      case OperationKind::reduce_scatter:
        return reduce_scatter_.run(*context_, t, slot_of_reduce_scatter(number));
      case OperationKind::all_to_all: return all_to_all(context_, t, number);
      case OperationKind::broadcast: return broadcast(context_, t, number);
      default: return barrier(context_, number);
    }
  });
}

}  // namespace dlnb::over_gloo
