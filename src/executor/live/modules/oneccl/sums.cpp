// SPDX-License-Identifier: Apache-2.0
#include "executor/live/modules/oneccl/sums.hpp"

#include "executor/live/reduction.hpp"

namespace dlnb::oneccl {
namespace {

template <DataType type>
void add(const void* in, std::size_t elements, void* sum, std::size_t* elements_out, ccl::datatype,
         const ccl::fn_context*) {
  reduction::add(type, static_cast<const std::byte*>(in), static_cast<std::byte*>(sum),
                 std::int64_t(elements));
  if (elements_out) *elements_out = elements;
}

Sum by_library(ccl::datatype type) { return {type, ccl::reduction::sum, ccl::default_allreduce_attr}; }

template <DataType type>
Sum by_us() {
  const ccl::reduction_fn function = add<type>;
  return {size_of(type) == 1 ? ccl::datatype::uint8 : ccl::datatype::uint16, ccl::reduction::custom,
          ccl::create_operation_attr<ccl::allreduce_attr>(
              ccl::attr_val<ccl::allreduce_attr_id::reduction_fn>(function))};
}

static_assert(int(DataType::float32) == 0 && int(DataType::float16) == 1 && int(DataType::bfloat16) == 2 &&
              int(DataType::float8) == 3);

}  // namespace

Sums::Sums(bool own)
    : sums_{by_library(ccl::datatype::float32),
            own || !__builtin_cpu_supports("f16c") ? by_us<DataType::float16>()
                                                   : by_library(ccl::datatype::float16),
            own ? by_us<DataType::bfloat16>() : by_library(ccl::datatype::bfloat16),
            by_us<DataType::float8>()} {}

}  // namespace dlnb::oneccl
