// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dlnb {

/// One cell: its text, and whether it is a number (right-aligned, bare in JSON).
struct Cell {
  std::string text;
  bool number = false;
  bool answer = false;  ///< "yes" or "no", in JSON true or false

  Cell(std::string t) : text(std::move(t)) {}
  Cell(std::string_view t) : text(t) {}
  Cell(const char* t) : text(t) {}
  Cell(double n);
  Cell(long n) : text(std::to_string(n)), number(true) {}
  Cell(int n) : text(std::to_string(n)), number(true) {}
  static Cell yes_or_no(bool yes) {
    Cell cell(yes ? "yes" : "no");
    cell.answer = true;
    return cell;
  }
};

/// Columns and rows, printed for people, programs or pages.
struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
};

/// Aligned columns; a last column of words is not cut.
std::string to_text(const Table& table);
/// An array of one object per row, keys in column order; numbers are numbers, empty cells null.
std::string to_json(const Table& table);
/// RFC 4180, with a header.
std::string to_csv(const Table& table);
std::string to_markdown(const Table& table);

/// By the word users write: text, json, csv, markdown.
std::string to_format(const Table& table, std::string_view format);

/// How many columns of a terminal a UTF-8 text takes (no wide or combining characters occur in ours).
std::size_t width_of(std::string_view text);

/// Breaks at blanks so that no line is wider than `width`, where that is possible.
std::string wrapped(std::string_view text, std::size_t width);

}  // namespace dlnb
