// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <dlnb/calibration.hpp>
#include <dlnb/document.hpp>

namespace dlnb {

/// A machine file with the structure of `base` and these measured costs, as TOML. `name` and `source` say what it is.
std::string machine_file(const Value& base, const Calibration& calibration, const std::string& name,
                         const std::string& source);

/// The structure of a machine of one node whose devices share what moves data between them: `capacity` between two at
/// once, `backplane` for all together (0: no limit of its own).
Value one_node_machine(std::int64_t devices, const std::string& device, BytesPerSecond capacity,
                       BytesPerSecond backplane);

}  // namespace dlnb
