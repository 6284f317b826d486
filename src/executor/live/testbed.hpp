// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace dlnb {

/// Hosts in namespaces of this machine, as testbed/testbed has brought them up.
struct Testbed {
  std::vector<std::string> hosts;
  std::string agent;
};

/// `text` is NAME, or NAME:h1,h2 for some of its hosts. Throws Unavailable where it is not up and UserError where it
/// has no such host.
Testbed find_testbed(const std::string& text);

}  // namespace dlnb
