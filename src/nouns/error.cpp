// SPDX-License-Identifier: Apache-2.0
#include <dlnb/error.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace dlnb {
namespace {

// A place is a path and a key at worst, a problem one sentence, a hint may list what there is to choose from.
constexpr std::size_t longest_where = 400, longest_problem = 800, longest_hint = 8000;

std::string sentence(std::string_view where, std::string_view problem) {
  const std::string what = printable(problem, longest_problem);
  return where.empty() ? what : printable(where, longest_where) + ": " + what;
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
    : std::runtime_error(sentence(where, problem)), exit_(exit), hint_(printable(hint, longest_hint)) {}

std::string printable(std::string_view text, std::size_t longest) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const bool cut = text.size() > longest;
  if (cut) {
    while (longest > 0 && (byte(longest) & 0xC0u) == 0x80u) --longest;
    text = text.substr(0, longest);
  }
  std::string out;
  const auto show = [&](unsigned code) {
    constexpr std::string_view digits = "0123456789abcdef";
    out += {'\\', 'x', digits[code >> 4], digits[code & 15]};
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (byte(i) < 0x20 || byte(i) == 0x7F) {
      show(byte(i));
    } else if (byte(i) == 0xC2 && byte(i + 1) >= 0x80 && byte(i + 1) < 0xA0) {
      show(byte(++i));  // U+0080 to U+009F: terminals take them for escape sequences as well
    } else {
      out += text[i];
    }
  }
  return cut ? out + "…" : out;
}

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
