// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlnb/metrics.hpp>

#include "analysis/analysis.hpp"

namespace dlnb {

/// `part` of the memory of the role that needs most in all; low and high over roles. Nothing of a live run, which
/// holds buffers and no model.
Metric of_fullest_role(const Attribution& attribution, double (*part)(const Memory&));

}  // namespace dlnb
