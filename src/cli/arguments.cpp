// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"

namespace dlnb {

std::string Arguments::text(const std::string& name, const std::string& fallback) const {
  const auto found = given_.find(name);
  return found == given_.end() ? fallback : found->second.back();
}

std::vector<std::string> Arguments::all(const std::string& name) const {
  const auto found = given_.find(name);
  return found == given_.end() ? std::vector<std::string>{} : found->second;
}

}  // namespace dlnb
