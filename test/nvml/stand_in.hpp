// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/live/nvml.hpp"

// How a test sets the stand-in.
using StandInSet = void(unsigned device, unsigned long long millijoules,
                        unsigned milliwatts);       ///< stand_in_set
using StandInBe = void(bool there, bool counting);  ///< stand_in_be
using StandInUsers = int();                         ///< stand_in_users: initialised and not shut down
