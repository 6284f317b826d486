// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace dlnb {

/// Where private folders are made: in memory (/dev/shm) where that is possible, because writing back to a disk makes
/// the next store to a mapped page wait; else the folder for temporary files. Empty: neither can be written to.
std::filesystem::path folder_of_folders();

/// The folder of the flight recorders of the run with this number on this host, made where it is not there yet and
/// ours alone: `asked` where it is not empty (which has to exist), else one in `folder_of_folders()`. Empty: none could be made. Throws UserError where
/// `asked` cannot be used.
std::filesystem::path recorder_folder(const std::string& asked, std::uint64_t run);

/// Removes what runs of this user have left in `folder_of_folders()`: where the process that started the ranks, and all
/// ranks that have a record, are known to have ended; where ranks had another launcher, more than an hour after that.
void sweep_left_folders();

}  // namespace dlnb
