// SPDX-License-Identifier: Apache-2.0
// One table of values serves three readers: the eye, the CSV file and the test.
import { button, element } from './dom';
import { saveText } from './save';
import { significant } from './units';

export type Cell = string | number | null;

export interface Column {
  name: string;
  unit?: string;
}

export interface DataTable {
  columns: Column[];
  rows: Cell[][];
}

export const heading = (column: Column): string => (column.unit ? `${column.name} [${column.unit}]` : column.name);

/// RFC 4180, numbers at full precision.
export function csv(table: DataTable): string {
  const quoted = (cell: Cell): string => {
    const text = cell === null ? '' : String(cell);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [table.columns.map(heading), ...table.rows].map((row) => row.map(quoted).join(','));
  return lines.join('\r\n') + '\r\n';
}

const page = 200; // rows added at a time: a timeline has a hundred thousand

function shown(cell: Cell): string {
  if (cell === null) return '–';
  if (typeof cell === 'string') return cell;
  return Number.isInteger(cell) ? String(cell) : significant(cell, 6);
}

/// A table that scrolls sideways by itself, so that the page does not.
export function scrolling(table: HTMLTableElement, label: string): HTMLElement {
  return element('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label }, table);
}

export function tableElement(table: DataTable, label: string): HTMLElement {
  const numeric = table.columns.map((_, i) => table.rows.some((row) => typeof row[i] === 'number'));
  const head = element('tr', {});
  table.columns.forEach((column, i) =>
    head.append(element('th', { scope: 'col', class: numeric[i] ? 'number' : undefined }, heading(column))),
  );
  const body = element('tbody');
  const made = element('table', { class: 'data' }, element('caption', {}, label), element('thead', {}, head), body);
  const box = scrolling(made, label);

  let filled = 0;
  const more = button('', { class: 'more' }, () => fill());
  const fill = () => {
    for (const row of table.rows.slice(filled, filled + page)) {
      const line = element('tr');
      row.forEach((cell, i) => line.append(element('td', { class: numeric[i] ? 'number' : undefined }, shown(cell))));
      body.append(line);
    }
    filled = Math.min(filled + page, table.rows.length);
    more.hidden = filled === table.rows.length;
    more.textContent = `Rows 1–${filled} of ${table.rows.length}: show more`;
  };
  fill();
  return element('div', {}, box, more);
}

/// A table whose cells are formatted for reading; `data` holds the same rows in plain units for the CSV file.
export function readable(label: string, file: string, columns: string[], rows: string[][], data: DataTable): HTMLElement {
  const numeric = columns.map((_, i) => typeof data.rows[0]?.[i] === 'number');
  const cells = (row: string[], tag: 'td' | 'th') => {
    const line = element('tr');
    row.forEach((text, i) =>
      line.append(element(tag, { class: numeric[i] ? 'number' : undefined, scope: tag === 'th' ? 'col' : undefined }, text)),
    );
    return line;
  };
  const table = element(
    'table',
    {},
    element('caption', {}, label),
    element('thead', {}, cells(columns, 'th')),
    element('tbody', {}, ...rows.map((row) => cells(row, 'td'))),
  );
  return element(
    'div',
    { class: 'readable' },
    scrolling(table, label),
    button('Save as CSV', { 'aria-label': `Save as CSV: ${label}` }, () => saveText(`${file}.csv`, 'text/csv', csv(data))),
  );
}
