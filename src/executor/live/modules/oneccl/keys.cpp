// SPDX-License-Identifier: Apache-2.0
#include "executor/live/modules/oneccl/keys.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>

namespace dlnb::oneccl {

ccl::vector_class<char> Keys::get(const ccl::string_class& key) {
  // oneCCL waits by asking again and again; where ranks outnumber cores, the others need this one to set their keys.
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  const std::string value = store_.look(prefix_ + key.c_str()).value_or(std::string());
  return {value.begin(), value.end()};
}

void Keys::set(const ccl::string_class& key, const ccl::vector_class<char>& data) {
  // How oneCCL takes a key back. The store goes as a whole, maybe before oneCCL does.
  if (std::ranges::all_of(data, [](char c) { return c == '\0'; })) return;
  store_.set(prefix_ + key.c_str(), std::string_view(data.data(), data.size()));
}

}  // namespace dlnb::oneccl
