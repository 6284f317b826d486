// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dlnb {

/// Exit codes of every command; scripts may rely on them.
enum class Exit : int {
  success = 0,
  user_error = 2,    ///< the request is wrong: where, what, what would be right
  unavailable = 3,   ///< not possible here: no such library, device or permission
  wrong_result = 4,  ///< verification failed or the run is INVALID
  lost_rank = 5,     ///< a rank hung or died
};

/// An expected failure; `what()` is "where: problem" and the hint is printed on a line of its own.
/// Whatever of the user's comes back in them is `printable` and not endless.
class Error : public std::runtime_error {
 public:
  Error(Exit exit, std::string_view where, std::string_view problem, std::string_view hint);

  Exit exit() const noexcept { return exit_; }
  const std::string& hint() const noexcept { return hint_; }

 private:
  Exit exit_;
  std::string hint_;
};

/// The user's mistake. `where` is "file:line key" or "--option".
class UserError : public Error {
 public:
  UserError(std::string_view where, std::string_view problem, std::string_view hint = {})
      : Error(Exit::user_error, where, problem, hint) {}
};

/// Right to ask, impossible here.
class Unavailable : public Error {
 public:
  Unavailable(std::string_view where, std::string_view reason, std::string_view hint = {})
      : Error(Exit::unavailable, where, reason, hint) {}
};

/// The data or the timing of a run is wrong.
class WrongResult : public Error {
 public:
  WrongResult(std::string_view where, std::string_view problem, std::string_view hint = {})
      : Error(Exit::wrong_result, where, problem, hint) {}
};

/// A rank stopped answering or died.
class LostRank : public Error {
 public:
  LostRank(std::string_view where, std::string_view problem, std::string_view hint = {})
      : Error(Exit::lost_rank, where, problem, hint) {}
};

/// "choose one of: a, b, c", led by "did you mean 'b'?" where one of `choices` is near `given`.
std::string choose_one_of(std::string_view given, const std::vector<std::string>& choices);

/// Text from outside, for a terminal: control characters made visible ("\x1b"), and cut with an ellipsis
/// behind `longest` bytes, never inside a UTF-8 character.
std::string printable(std::string_view text, std::size_t longest = std::string_view::npos);

[[noreturn]] void broken_claim(const char* claim, std::string_view message, const char* file, int line);

}  // namespace dlnb

/// Our own mistake: says which claim did not hold, and aborts.
#define DLNB_REQUIRE(claim, message) \
  ((claim) ? void(0) : ::dlnb::broken_claim(#claim, (message), __FILE__, __LINE__))
