// SPDX-License-Identifier: Apache-2.0
#include "executor/live/modules/mpi/types.hpp"

#include <stdexcept>
#include <string>

#include "executor/live/modules/mpi/calls.hpp"
#include "executor/live/reduction.hpp"

namespace dlnb::mpi {

void fail(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error("MPI: " + std::string(text, std::size_t(length)));
}

Types::Types() {
  for (const DataType type : {DataType::float32, DataType::float16, DataType::bfloat16, DataType::float8}) {
    MPI_Datatype& element = elements_[std::size_t(type)];
    if (type == DataType::float32) {
      element = MPI_FLOAT;
    } else {
      check(MPI_Type_contiguous(int(size_of(type)), MPI_BYTE, &element));
      check(MPI_Type_commit(&element));
    }
    sums_[std::size_t(type)] = make_sum(type);
  }
}

Types::~Types() {
  for (auto& [key, type] : placed_) MPI_Type_free(&type);
  for (auto& [key, type] : many_) MPI_Type_free(&type);
  for (const DataType type : {DataType::float16, DataType::bfloat16, DataType::float8})
    MPI_Type_free(&elements_[std::size_t(type)]);
  for (MPI_Op& sum : sums_) MPI_Op_free(&sum);
}

MPI_Datatype Types::many(DataType type, std::int64_t elements) {
  const std::lock_guard lock(mutex_);
  return many_while_locked(type, elements);
}

MPI_Datatype Types::many_while_locked(DataType type, std::int64_t elements) {
  auto [place, is_new] = many_.try_emplace({type, elements}, MPI_DATATYPE_NULL);
  if (!is_new) return place->second;
  MPI_Datatype whole_block, parts[2] = {MPI_DATATYPE_NULL, element(type)};
  check(MPI_Type_contiguous(int(block), element(type), &whole_block));
  check(MPI_Type_contiguous(int(elements / block), whole_block, &parts[0]));
  const int lengths[2] = {1, int(elements % block)};
  const MPI_Aint places[2] = {0, MPI_Aint(elements / block * block * size_of(type))};
  check(MPI_Type_create_struct(2, lengths, places, parts, &place->second));
  check(MPI_Type_commit(&place->second));
  MPI_Type_free(&parts[0]);
  MPI_Type_free(&whole_block);
  return place->second;
}

MPI_Datatype Types::placed(DataType type, std::int64_t elements, std::int64_t first) {
  const std::lock_guard lock(mutex_);
  auto [place, is_new] = placed_.try_emplace({type, elements, first}, MPI_DATATYPE_NULL);
  if (!is_new) return place->second;
  const int length = 1;
  const MPI_Aint at = MPI_Aint(first * size_of(type));
  const MPI_Datatype part = many_while_locked(type, elements);
  check(MPI_Type_create_struct(1, &length, &at, &part, &place->second));
  check(MPI_Type_commit(&place->second));
  return place->second;
}

}  // namespace dlnb::mpi
