// SPDX-License-Identifier: Apache-2.0
#include "executor/live/buffers.hpp"

namespace dlnb {

Buffers::Buffers(Transport& transport, const std::vector<Lane>& lanes) : transport_(transport) {
  try {
    send_.reserve(lanes.size());
    receive_.reserve(lanes.size());
    for (const Lane& lane : lanes) {
      send_.push_back(transport.allocate(lane.send_bytes));
      receive_.push_back(transport.allocate(lane.receive_bytes));
    }
  } catch (...) {
    release();
    throw;
  }
}

Buffers::~Buffers() { release(); }

void Buffers::release() noexcept {
  for (std::byte* memory : send_) transport_.release(memory);
  for (std::byte* memory : receive_) transport_.release(memory);
}

}  // namespace dlnb
