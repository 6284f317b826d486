// SPDX-License-Identifier: Apache-2.0
#include "model/roofline.hpp"

#include <algorithm>
#include <cmath>

namespace dlnb {

Cost roofline(double flops, double bytes, const Device& device) {
  const double compute = flops / device.peak.value;
  const double memory = bytes / device.memory_bandwidth.value;
  return {{flops}, bytes, {std::max(compute, memory)}};
}

Cost kernel(double flops, double bytes, const Device& device, double share) {
  const double compute = flops / (device.peak.value * share);
  const double memory = bytes / (device.memory_bandwidth.value * device.efficiency.memory);
  return {{flops}, bytes, {device.efficiency.launch.value + std::hypot(compute, memory)}};
}

Cost layer_list_cost(const Part& part, const Workload& load, const Device& device) {
  const double samples = double(load.samples);
  const double elements = double(part.elements()) + samples * double(part.activation_elements);
  return roofline(samples * part.forward_flops, elements * double(size_of(load.dtype)), device);
}

FeedForward feed_forward_of(const Model& model, const Part& part) {
  const Architecture& a = model.architecture;
  FeedForward width;
  for (const Tensor& tensor : part.tensors) {
    if (tensor.cut != Cut::columns) continue;  // the down projections
    width.stored += double(tensor.columns) * double(tensor.copies);
    width.visited += double(tensor.columns) * (tensor.expert ? double(a.experts_active) : 1.0);
  }
  return width;
}

// Mixed precision (Micikevicius et al., arXiv:1710.03740) with Adam (Kingma & Ba, arXiv:1412.6980): the
// update reads the gradient and the 32-bit master weight and two moments, and writes these three and the
// working weight.
//   bytes per parameter    gradient + 3·4 + 3·4 + weight = 28 with 16-bit weights and gradients
// The states are those of Rajbhandari et al., ZeRO, arXiv:1910.02054, section 3.1.
Cost adam_step(std::int64_t parameters, DataType parameter_type, DataType gradient_type,
               const Device& device) {
  const double state = 3 * 4;
  double bytes = double(size_of(gradient_type)) + 2 * state;
  if (parameter_type != DataType::float32) bytes += double(size_of(parameter_type));  // else it is the master
  return kernel(0, bytes * double(parameters), device, 1);
}

}  // namespace dlnb
