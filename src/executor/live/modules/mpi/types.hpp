// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include <dlnb/units.hpp>

namespace dlnb::mpi {

[[noreturn]] void fail(int code);
/// Throws std::runtime_error with MPI's own words where `code` is an error.
inline void check(int code) {
  if (code != MPI_SUCCESS) fail(code);
}

/// Element types of true size with their sums. MPI 4 knows float32 only: the others are opaque bytes to it,
/// added up by our own operators. Several threads may ask for types. Made after MPI_Init, forgotten before MPI_Finalize.
class Types {
 public:
  Types();
  ~Types();
  Types(const Types&) = delete;
  Types& operator=(const Types&) = delete;

  MPI_Datatype element(DataType type) const { return elements_[std::size_t(type)]; }
  /// For elements; float32 has MPI's own.
  MPI_Op sum(DataType type) const { return type == DataType::float32 ? MPI_SUM : sums_[std::size_t(type)]; }
  /// Also for types of many elements.
  MPI_Op sum_of_many(DataType type) const { return sums_[std::size_t(type)]; }
  /// `elements` consecutive ones, however many, as a single item.
  MPI_Datatype many(DataType type, std::int64_t elements);
  /// The same, `first` elements behind the buffer's start.
  MPI_Datatype placed(DataType type, std::int64_t elements, std::int64_t first);

  /// Elements in the inner part of such a type.
  static constexpr std::int64_t block = 1 << 16;

 private:
  MPI_Datatype many_while_locked(DataType type, std::int64_t elements);

  std::mutex mutex_;  // of many_ and placed_
  std::array<MPI_Datatype, 4> elements_;
  std::array<MPI_Op, 4> sums_;
  std::map<std::pair<DataType, std::int64_t>, MPI_Datatype> many_;
  std::map<std::tuple<DataType, std::int64_t, std::int64_t>, MPI_Datatype> placed_;
};

}  // namespace dlnb::mpi
