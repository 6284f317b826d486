// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlnb/result.hpp>

namespace dlnb {

/// Version, commit and compiler: the same bytes every time.
Provenance provenance_of_program();
/// The same with time, host and the environment variables that change a live run.
Provenance provenance_of_this_host();

}  // namespace dlnb
