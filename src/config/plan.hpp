// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlnb/document.hpp>
#include <dlnb/spec.hpp>

namespace dlnb {

/// A layer's `plan` as a table: a name becomes { name = "…" }, a composition its passes behind an empty name.
Value plan_table(const Value& plan);

/// Lays one plan table over another. One that has a name replaces; others change the passes they mention.
void merge_plan(Value& below, const Value& above);

/// The default plan's name in the form of `plan_table`.
Value default_plan_table();

/// The passes of a merged plan table, those of the named plan first; an empty table is the default plan.
/// `flavour` is the plan's own.
PlanSpec make_plan(const Value& table);

}  // namespace dlnb
