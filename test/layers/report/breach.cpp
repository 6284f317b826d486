// SPDX-License-Identifier: Apache-2.0
#include "executor/sim/sim.hpp"
#include "core/log.hpp"
