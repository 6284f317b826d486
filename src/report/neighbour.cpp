// SPDX-License-Identifier: Apache-2.0
#include "report/report.hpp"

namespace dlnb {

std::string neighbour(const Result& result, const Slowing& slowing) {
  const auto by = std::size_t(slowing.by);
  if (by >= result.jobs.size() || result.jobs[by] == result.job) return {};
  return result.jobs[by];
}

}  // namespace dlnb
