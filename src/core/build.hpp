// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the build knows; written by cmake/Provenance.cmake.
namespace dlnb::build {

extern const char* const version;
extern const char* const commit;       ///< "unknown" outside a git checkout
extern const char* const compiler;     ///< "GNU 12.2.0, RelWithDebInfo"
extern const char* const source_data;  ///< data/ of the tree this was built from

}  // namespace dlnb::build
