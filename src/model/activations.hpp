// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model.hpp"

namespace dlnb {

/// Bytes on one rank for one micro-batch of a part, as `load.division` cuts it.
struct Activations {
  double kept = 0;     ///< from forward to backward
  double working = 0;  ///< besides, while its backward pass runs
};
Activations activations_of(const Model& model, const Part& part, const Workload& load);

}  // namespace dlnb
