// SPDX-License-Identifier: Apache-2.0
#include "executor/live/control.hpp"

#include <numeric>

namespace dlnb {
namespace {

// float8 is the type of one byte; nothing is added up here.
Transfer bytes_transfer(OperationKind kind, int communicator, int peer) {
  return {
      .kind = kind, .dtype = DataType::float8, .communicator = communicator, .peer = peer, .on_host = true};
}

}  // namespace

Control::Control(Transport& transport) : transport_(transport) {
  std::vector<int> all(static_cast<std::size_t>(transport.size()));
  std::iota(all.begin(), all.end(), 0);
  communicator_ = transport.communicator(all);
}

void Control::barrier() const { transport_.run(bytes_transfer(OperationKind::barrier, communicator_, 0)); }

void Control::send(int peer, std::span<const std::byte> bytes) const {
  Transfer transfer = bytes_transfer(OperationKind::send, communicator_, peer);
  transfer.send = bytes.data();
  transfer.elements_sent = std::int64_t(bytes.size());
  transport_.run(transfer);
}

void Control::receive(int peer, std::span<std::byte> bytes) const {
  Transfer transfer = bytes_transfer(OperationKind::recv, communicator_, peer);
  transfer.receive = bytes.data();
  transfer.elements_received = std::int64_t(bytes.size());
  transport_.run(transfer);
}

void Control::broadcast(std::span<std::byte> bytes) const {
  Transfer transfer = bytes_transfer(OperationKind::broadcast, communicator_, 0);
  transfer.receive = bytes.data();
  transfer.elements_sent = transfer.elements_received = std::int64_t(bytes.size());
  transport_.run(transfer);
}

std::string Control::broadcast(std::string text) const {
  text.resize(broadcast_value(text.size()));
  if (!text.empty()) broadcast(std::as_writable_bytes(std::span(text)));
  return text;
}

std::vector<std::vector<std::byte>> Control::gather(std::span<const std::byte> bytes) const {
  std::uint64_t size = bytes.size();
  if (!first()) {
    send(0, std::as_bytes(std::span(&size, 1)));
    if (size > 0) send(0, bytes);
    return {};
  }
  std::vector<std::vector<std::byte>> all{{bytes.begin(), bytes.end()}};
  for (int rank = 1; rank < transport_.size(); ++rank) {
    receive(rank, std::as_writable_bytes(std::span(&size, 1)));
    all.emplace_back(size);
    if (size > 0) receive(rank, all.back());
  }
  return all;
}

std::vector<std::string> Control::gather(const std::string& text) const {
  std::vector<std::string> texts;
  for (const auto& bytes : gather(std::as_bytes(std::span(text))))
    texts.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return texts;
}

}  // namespace dlnb
