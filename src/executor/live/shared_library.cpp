// SPDX-License-Identifier: Apache-2.0
#include "executor/live/shared_library.hpp"

#include <dlfcn.h>
#include <link.h>

namespace dlnb {

SharedLibrary::SharedLibrary(std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle_) break;
    const char* const reason = dlerror();
    if (problem_.empty()) problem_ = reason ? reason : std::string(name) + " cannot be loaded";
  }
  link_map* map = nullptr;
  if (handle_ && dlinfo(handle_, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 && map) file_ = map->l_name;
}

void* SharedLibrary::address_of(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

}  // namespace dlnb
