// SPDX-License-Identifier: Apache-2.0
#include "cli/table.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <dlnb/error.hpp>

namespace dlnb {
namespace {

std::string padded(const Cell& cell, std::size_t width) {
  const std::string blanks(width - std::min(width, width_of(cell.text)), ' ');
  return cell.number ? blanks + cell.text : cell.text + blanks;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

std::string csv_cell(const Cell& cell) {
  if (cell.text.find_first_of(",\"\n\r") == std::string::npos) return cell.text;
  std::string text = cell.text;
  replace_all(text, "\"", "\"\"");
  return '"' + text + '"';
}

std::string markdown_cell(const Cell& cell) {
  std::string text = cell.text;
  replace_all(text, "|", "\\|");
  replace_all(text, "<", "&lt;");
  replace_all(text, "\n", " ");
  return text;
}

}  // namespace

Cell::Cell(double n) : text(fmt::format("{}", n)), number(true) {}

std::size_t width_of(std::string_view text) {
  return std::size_t(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string wrapped(std::string_view text, std::size_t width) {
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    if (column > 0 && column + 1 + width_of(word) > width) {
      out += '\n';
      column = 0;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += width_of(word);
  }
  return out;
}

std::string to_text(const Table& table) {
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    std::size_t width = width_of(table.columns[column]);
    for (const auto& row : table.rows) width = std::max(width, width_of(row[column].text));
    widths.push_back(width);
  }
  const auto line = [&](const std::vector<Cell>& cells) {
    std::string out;
    for (std::size_t column = 0; column < cells.size(); ++column)
      out += (column ? "  " : "") + padded(cells[column], widths[column]);
    return out.erase(out.find_last_not_of(' ') + 1) + "\n";
  };
  std::vector<Cell> head;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    head.emplace_back(table.columns[column]);
    head.back().number = !table.rows.empty() && table.rows.front()[column].number;
  }
  std::string out = line(head);
  for (const auto& row : table.rows) out += line(row);
  return out;
}

std::string to_json(const Table& table) {
  auto rows = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    nlohmann::ordered_json object;
    for (std::size_t column = 0; column < row.size(); ++column) {
      auto& member = object[table.columns[column]];
      if (row[column].number) member = nlohmann::ordered_json::parse(row[column].text);
      else if (row[column].answer) member = row[column].text == "yes";
      else if (!row[column].text.empty()) member = row[column].text;
    }
    rows.push_back(std::move(object));
  }
  return rows.dump(2) + "\n";
}

std::string to_csv(const Table& table) {
  std::string out = fmt::format("{}\n", fmt::join(table.columns, ","));
  for (const auto& row : table.rows) {
    for (std::size_t column = 0; column < row.size(); ++column)
      out += (column ? "," : "") + csv_cell(row[column]);
    out += '\n';
  }
  return out;
}

std::string to_markdown(const Table& table) {
  std::string out = fmt::format("| {} |\n|", fmt::join(table.columns, " | "));
  for (std::size_t column = 0; column < table.columns.size(); ++column)
    out += !table.rows.empty() && table.rows.front()[column].number ? "---:|" : "---|";
  out += '\n';
  for (const auto& row : table.rows) {
    out += '|';
    for (const Cell& cell : row) out += ' ' + markdown_cell(cell) + " |";
    out += '\n';
  }
  return out;
}

std::string to_format(const Table& table, std::string_view format) {
  if (format == "text") return to_text(table);
  if (format == "json") return to_json(table);
  if (format == "csv") return to_csv(table);
  DLNB_REQUIRE(format == "markdown", format);
  return to_markdown(table);
}

}  // namespace dlnb
