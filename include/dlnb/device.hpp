// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <dlnb/units.hpp>

namespace dlnb {

/// What kernels reach of a device's peaks, in the `exact` cost model (docs/models/compute.md).
struct Efficiency {
  double matrix = 1;     ///< achieved / peak of large matrix products
  double attention = 1;  ///< achieved / peak of fused attention, forward, counting the unmasked half only
  double memory = 1;     ///< achieved / peak bandwidth
  Seconds launch{0};     ///< start-up of one kernel on the device
  Seconds dispatch{0};   ///< of the host, to issue one kernel
  std::string source;    ///< empty: no curve, the peaks are used and the result says so
};

/// One accelerator as a rank sees it (an MI250X rank is one GCD).
struct Device {
  std::string name;
  std::string summary;
  std::string source;   ///< citation of the peaks
  FlopsPerSecond peak;  ///< dense, in `peak_type`
  DataType peak_type = DataType::bfloat16;
  BytesPerSecond memory_bandwidth;
  Bytes memory;
  Efficiency efficiency;
};

}  // namespace dlnb
