// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlnb/run.hpp>  // make_schedule, simulate, run and coll, which pipeline.cpp defines
