// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/common/error.h>
#include <gloo/common/logging.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace dlnb::over_gloo {

/// gloo's words without the place in its sources: "[…/pair.cc:598] Connection closed by peer [127.0.0.1]:4711".
inline std::runtime_error failure_of(const std::string& words) {
  const std::size_t end = words.starts_with('[') ? words.find("] ") : std::string::npos;
  return std::runtime_error("gloo: " + (end == std::string::npos ? words : words.substr(end + 2)));
}

/// Calls into gloo; what it throws comes out as std::runtime_error, as a transport's failures do.
template <class Call>
decltype(auto) guarded(Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (const ::gloo::EnforceNotMet& failure) {  // "[…] condition. words"
    const std::string words = failure.what();
    const std::size_t condition = words.find(". ");
    throw failure_of(condition == std::string::npos ? words : words.substr(condition + 2));
  } catch (const ::gloo::Exception& failure) {
    throw failure_of(failure.what());
  }
}

}  // namespace dlnb::over_gloo
