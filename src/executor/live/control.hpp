// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "executor/live/transport.hpp"

namespace dlnb {

/// What ranks have to tell each other outside the timed part. All members are collective over the world.
class Control {
 public:
  /// Makes a communicator of all ranks.
  explicit Control(Transport& transport);

  Transport& transport() const { return transport_; }
  int communicator() const { return communicator_; }
  bool first() const { return transport_.rank() == 0; }

  void barrier() const;
  /// Rank 0 gets everybody's bytes in rank order, the others nothing.
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> bytes) const;
  std::vector<std::string> gather(const std::string& text) const;
  template <class T>
    requires std::is_trivially_copyable_v<T>
  std::vector<T> gather_values(const T& value) const {
    std::vector<T> values;
    for (const auto& bytes : gather(std::as_bytes(std::span(&value, 1)))) {
      values.emplace_back();
      std::memcpy(&values.back(), bytes.data(), sizeof(T));
    }
    return values;
  }
  /// Everybody gets what rank 0 has.
  std::string broadcast(std::string text) const;
  template <class T>
    requires std::is_trivially_copyable_v<T>
  T broadcast_value(T value) const {
    broadcast(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  /// The same number of values everywhere.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  std::vector<T> broadcast_values(std::vector<T> values) const {
    broadcast(std::as_writable_bytes(std::span(values)));
    return values;
  }
  /// Bytes between two ranks.
  void send(int peer, std::span<const std::byte> bytes) const;
  void receive(int peer, std::span<std::byte> bytes) const;

 private:
  void broadcast(std::span<std::byte> bytes) const;

  Transport& transport_;
  int communicator_;
};

/// Runs `check` on rank 0, which returns an empty text or what is wrong; every rank gets that text.
template <class Check>
std::string agree(const Control& control, Check&& check) {
  return control.broadcast(control.first() ? check() : std::string());
}

}  // namespace dlnb
