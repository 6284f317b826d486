// SPDX-License-Identifier: Apache-2.0
// A module as another version would build it: the same name, another stamp. To open it is a mistake.
#include <cstdlib>

extern "C" __attribute__((visibility("default"))) const char* dlnb_module_stamp() {
  return "0123456789abcdef";
}

extern "C" __attribute__((visibility("default"))) void* dlnb_open_transport() { std::abort(); }
