// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlnb/document.hpp>
#include <dlnb/spec.hpp>

namespace dlnb {

enum class AskedFlavour { automatic, paper, pytorch };

/// A RunSpec while it is being read: with what is only settled once all layers are known.
struct Request : RunSpec {
  Value plan_tree;
  AskedFlavour flavour = AskedFlavour::automatic;
  bool literal = false;
  double scale = 1;
};

/// Reads the members of a spec through the table behind `run_options`; unknown ones are user errors.
void read_request(const Value& tree, Request& request);

}  // namespace dlnb
