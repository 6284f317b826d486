// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace dlnb {

/// Opens /dev/null on whichever of stdin, stdout and stderr the caller closed, so that no file of ours gets
/// their number, and ignores SIGPIPE, so that a reader that went away does not cost the result file.
void guard_standard_streams();

/// Writes results to stdout. A reader that has gone away is no error; throws UserError for any other
/// failure.
void print(std::string_view text);

/// Whether talk on stderr is coloured: a terminal, no --no-color, no NO_COLOR.
bool colour_wanted(bool no_colour_option);

/// Whether stderr is a terminal that a line can be taken back from; of a rank: its launcher's, which said so in
/// the environment by `hand_on_progress`.
bool progress_wanted();
void hand_on_progress();

}  // namespace dlnb
