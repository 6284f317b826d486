// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analysis/analysis.hpp"

namespace dlnb {

std::vector<IterationRow> iteration_rows(const Attribution& attribution);

/// The iteration whose time (of its slowest rank) is the nearest-rank median; the earliest of equals.
int median_iteration(const std::vector<IterationRow>& rows);

}  // namespace dlnb
