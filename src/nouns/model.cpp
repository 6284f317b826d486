// SPDX-License-Identifier: Apache-2.0
#include <dlnb/model.hpp>

namespace dlnb {

const char* name_of(PartKind kind) {
  switch (kind) {
    case PartKind::embedding: return "embedding";
    case PartKind::attention: return "attention";
    case PartKind::mlp: return "mlp";
    case PartKind::norm: return "norm";
    case PartKind::head: return "head";
    case PartKind::convolution: return "convolution";
  }
  return "?";
}

std::int64_t Part::elements() const {
  std::int64_t elements = 0;
  for (const Tensor& tensor : tensors) elements += tensor.elements();
  return elements;
}

std::int64_t Model::parameters() const {
  std::int64_t elements = 0;
  for (const Part& part : parts) elements += part.elements();
  return elements;
}

std::int64_t Model::expert_parameters() const {
  std::int64_t elements = 0;
  for (const Part& part : parts)
    for (const Tensor& tensor : part.tensors)
      if (tensor.expert) elements += tensor.elements();
  return elements;
}

std::int64_t Model::tensors() const {
  std::int64_t count = 0;
  for (const Part& part : parts)
    for (const Tensor& tensor : part.tensors) count += tensor.copies;
  return count;
}

}  // namespace dlnb
