// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlnb/device.hpp>
#include <dlnb/model.hpp>
#include <dlnb/step.hpp>

#include "model/model.hpp"

namespace dlnb {

/// One kernel under the roofline: t = FLOPs / min(peak, I · bandwidth) with I = FLOPs / bytes, that is the
/// longer of computing and moving. Source: Williams, Waterman, Patterson, Roofline, CACM 52(4), 2009.
Cost roofline(double flops, double bytes, const Device& device);

/// One kernel as measured devices run it: its launch, and computing and moving that overlap in part,
/// t = launch + sqrt(compute² + memory²). `share` of the peak is reached by large kernels of this kind.
Cost kernel(double flops, double bytes, const Device& device, double share);

/// A part of a layer list: its stated FLOPs; weights and the activations in and out of each layer moved once.
Cost layer_list_cost(const Part& part, const Workload& load, const Device& device);

/// Hidden features of the feed-forward: those all tokens' weights hold, and those one token visits.
struct FeedForward {
  double stored = 0;
  double visited = 0;
};
FeedForward feed_forward_of(const Model& model, const Part& part);

/// Adam's update of `parameters` elements: optimizer state is moved once, arithmetic is free beside it.
Cost adam_step(std::int64_t parameters, DataType parameter_type, DataType gradient_type,
               const Device& device);

}  // namespace dlnb
