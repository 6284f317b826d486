// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlnb/document.hpp>
#include <dlnb/spec.hpp>

#include "config/request.hpp"

namespace dlnb {

/// A layer's `plan` as a table: a name becomes { name = "…" }, a composition its passes behind an empty name.
Value plan_table(const Value& plan);

/// Lays one plan table over another. One that has a name replaces; others change the passes they mention.
void merge_plan(Value& below, const Value& above);

/// The default plan's name in the form of `plan_table`.
Value default_plan_table();

/// The passes of a merged plan table, those of the named plan first; an empty table is the default plan.
/// `flavour`: the asked one, else the plan's own. Options that a plan file gives for one flavour only ([paper],
/// [pytorch]) lie over its [plan] in that flavour.
PlanSpec make_plan(const Value& table, AskedFlavour flavour);

}  // namespace dlnb
