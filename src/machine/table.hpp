// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlnb/document.hpp>
#include <dlnb/options.hpp>
#include <initializer_list>
#include <string>
#include <string_view>

namespace dlnb {

/// A count of things in a machine: at least one, and small enough that products of two are exact.
inline constexpr Range count_range{1, 1e7};
/// The same where none is allowed.
inline constexpr Range count_or_none{0, 1e7};
/// A bandwidth: anything but nothing; more than an exabyte per second is a slip of the pen.
inline constexpr Range bandwidth_range{1, 1e18};
/// A latency of a link or of software, seconds.
inline constexpr Range latency_range{0, 1e3};

/// The table without some members, which their own readers check.
Value without(const Value& table, std::initializer_list<std::string_view> keys);

/// Throws UserError naming the first of `keys` that the table lacks.
void require_members(const Value& table, std::string_view path, std::initializer_list<std::string_view> keys);

/// "file:line key", as errors name their place.
std::string located(const Value& value, std::string_view key);

}  // namespace dlnb
