// SPDX-License-Identifier: Apache-2.0
#include <dlnb/error.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace dlnb {
namespace {

std::string sentence(std::string_view where, std::string_view problem) {
  return where.empty() ? std::string(problem) : std::string(where) + ": " + std::string(problem);
}

// Edits (insert, delete, replace, swap of neighbours) between two words; restricted Damerau–Levenshtein
// distance.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] != b[j - 1]);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before.swap(previous);
    previous.swap(current);
  }
  return previous[b.size()];
}

constexpr std::size_t longest_name = 64;  // longer input is no misspelling of a name

}  // namespace

Error::Error(Exit exit, std::string_view where, std::string_view problem, std::string_view hint)
    : std::runtime_error(sentence(where, problem)), exit_(exit), hint_(hint) {}

std::string choose_one_of(std::string_view given, const std::vector<std::string>& choices) {
  if (choices.empty()) return "there is nothing to choose from";

  const std::string* nearest = nullptr;
  if (!given.empty() && given.size() <= longest_name) {
    std::size_t fewest = std::max<std::size_t>(1, given.size() / 3) + 1;
    for (const std::string& choice : choices) {
      const std::size_t edits = edits_between(given, choice);
      if (edits < fewest) fewest = edits, nearest = &choice;
    }
  }

  std::string hint = nearest ? "did you mean '" + *nearest + "'? " : "";
  hint += "choose one of: ";
  for (const std::string& choice : choices) hint += (&choice == choices.data() ? "" : ", ") + choice;
  return hint;
}

void broken_claim(const char* claim, std::string_view message, const char* file, int line) {
  std::fprintf(
      stderr, "%s:%d: this does not hold: %s\n  %.*s\n  This is a mistake in dlnetbench; please report it.\n",
      file, line, claim, int(message.size()), message.data());
  std::fflush(stderr);
  std::abort();
}

}  // namespace dlnb
