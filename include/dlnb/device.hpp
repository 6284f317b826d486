// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <dlnb/units.hpp>

namespace dlnb {

/// One accelerator as a rank sees it (an MI250X rank is one GCD).
struct Device {
  std::string name;
  std::string summary;
  std::string source;   ///< citation of the peaks
  FlopsPerSecond peak;  ///< dense, in `peak_type`
  DataType peak_type = DataType::bfloat16;
  BytesPerSecond memory_bandwidth;
  Bytes memory;
  // Efficiency curve of the `exact` cost model: achieved/peak = ceiling · f / (f + half) at f FLOP per kernel.
  double efficiency_ceiling = 1.0;
  Flops efficiency_half{0};
  std::string efficiency_source;  ///< empty: no curve, peak is used and the result says so
};

}  // namespace dlnb
