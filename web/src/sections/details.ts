// SPDX-License-Identifier: Apache-2.0
// One result: its metrics with their definitions, operations, iterations, bytes, links and notes.
import { button, disclosure, element, identifier } from '../dom';
import type { Result } from '../result';
import { heading, readable, scrolling, type Column, type DataTable } from '../table';
import { bytes, integer, rate, seconds, percent, words } from '../units';
import { links, tablesOf } from './links';
import { anchor, badges, metricText } from './overview';

function metricsTable(result: Result): HTMLElement {
  const body = element('tbody');
  for (const [name, metric] of Object.entries(result.metrics)) {
    const definition = element(
      'tr',
      { class: 'definition', id: identifier('definition'), hidden: true },
      element('td', { colspan: 5 }, metric.definition),
    );
    const term = metric.definition
      ? button(words(name), { class: 'term', 'aria-expanded': 'false', 'aria-controls': definition.id }, (pressed) => {
          definition.hidden = !definition.hidden;
          pressed.setAttribute('aria-expanded', String(!definition.hidden));
        })
      : words(name);
    const shown = (value: number | null) => metricText(name, metric, value);
    body.append(
      element(
        'tr',
        { 'data-metric': name },
        element('th', { scope: 'row' }, term),
        element('td', { class: 'number value' }, shown(metric.value)),
        element('td', {}, metric.unit === '1' || metric.unit === '' ? 'ratio' : metric.unit),
        element('td', { class: 'number' }, integer(metric.count)),
        element('td', { class: 'number' }, `${shown(metric.low)} to ${shown(metric.high)}`),
      ),
      definition,
    );
  }
  const columns = ['metric', 'value', 'unit', 'samples', 'lowest to highest'];
  const head = element('tr');
  columns.forEach((name, i) =>
    head.append(element('th', { scope: 'col', class: i === 1 || i > 2 ? 'number' : undefined }, name)),
  );
  const label = `Metrics of ${result.label}`;
  const table = element('table', { class: 'metrics' }, element('caption', {}, label), element('thead', {}, head), body);
  return scrolling(table, label);
}

const traffic: Column[] = [
  { name: 'role' },
  { name: 'axis' },
  { name: 'operation' },
  { name: 'phase' },
  { name: 'type' },
  { name: 'group', unit: 'ranks' },
  { name: 'count' },
  { name: 'bytes each', unit: 'B' },
];

function operations(result: Result, file: string): HTMLElement {
  const rows = result.operations;
  const times = ['min', 'mean', 'median', 'p95', 'p99', 'max'] as const;
  const data: DataTable = {
    columns: [
      ...traffic,
      { name: 'samples' },
      ...times.map((name) => ({ name: `time ${name}`, unit: 's' })),
      { name: 'exposed', unit: 's per step' },
      { name: 'algorithm bandwidth', unit: 'B/s' },
      { name: 'bus bandwidth', unit: 'B/s' },
    ],
    rows: rows.map((r) => [
      r.role, r.axis, r.operation, r.phase, r.dtype, r.group_size, r.count, r.bytes_each, r.time.count,
      ...times.map((name) => r.time[name]), r.exposed, r.algorithm_bandwidth, r.bus_bandwidth,
    ]),
  };
  const shown = rows.map((r) => [
    String(r.role), r.axis, r.operation, r.phase, r.dtype, integer(r.group_size), integer(r.count), bytes(r.bytes_each),
    integer(r.time.count), ...times.map((name) => seconds(r.time[name])), seconds(r.exposed),
    r.algorithm_bandwidth ? rate(r.algorithm_bandwidth) : '–', r.bus_bandwidth ? rate(r.bus_bandwidth) : '–',
  ]);
  return readable(`Operations of ${result.label}`, `${file}-operations`, data.columns.map((c) => c.name), shown, data);
}

function iterations(result: Result, file: string): HTMLElement {
  const parts = ['time', 'compute', 'transfer', 'straggler_wait', 'pipeline_bubble'] as const;
  const data: DataTable = {
    columns: [
      { name: 'iteration' },
      ...parts.map((name) => ({ name: words(name), unit: 's' })),
      { name: 'communication fraction' },
    ],
    rows: result.iterations.map((r) => [r.iteration, ...parts.map((name) => r[name]), r.communication_fraction]),
  };
  const shown = result.iterations.map((r) => [
    String(r.iteration), ...parts.map((name) => seconds(r[name])), percent(r.communication_fraction),
  ]);
  return readable(`Iterations of ${result.label}, slowest rank`, `${file}-iterations`, data.columns.map((c) => c.name), shown, data);
}

function ledger(result: Result, file: string): HTMLElement {
  const data: DataTable = {
    columns: [...traffic, { name: 'bytes in all', unit: 'B' }, { name: 'of them padding', unit: 'B' }],
    rows: result.ledger.map((r) => [
      r.role, r.axis, r.operation, r.phase, r.dtype, r.group_size, r.count, r.bytes_each, r.bytes_total, r.padding_bytes,
    ]),
  };
  const shown = result.ledger.map((r) => [
    String(r.role), r.axis, r.operation, r.phase, r.dtype, integer(r.group_size), integer(r.count),
    bytes(r.bytes_each), bytes(r.bytes_total), bytes(r.padding_bytes),
  ]);
  const label = `Bytes that one rank of a role moves in one step, ${result.label}`;
  return readable(label, `${file}-ledger`, data.columns.map((c) => (c.unit === 'B' ? c.name : heading(c))), shown, data);
}

function facts(result: Result): HTMLElement {
  const list = element('dl', { class: 'facts' });
  const add = (name: string, value: unknown) => {
    if (value === undefined || value === null || value === '' || value === 0) return;
    list.append(element('div', {}, element('dt', {}, name), element('dd', {}, String(value))));
  };
  const { machine } = result;
  add('executor', [result.executor, result.library].filter(Boolean).join(', '));
  add('machine', [machine.name, machine.topology].filter(Boolean).join(', '));
  add('accelerator', machine.device);
  add('placement', machine.placement);
  add('nodes', machine.nodes);
  add('accelerators per node', machine.devices_per_node);
  add('process grid', result.grid?.map(({ axis, size }) => `${axis} ${size}`).join(' × '));
  add('global batch', result.global_batch && `${integer(result.global_batch)} samples`);
  add('sequence', result.sequence && result.sequence > 1 ? `${integer(result.sequence)} tokens` : undefined);
  add('cost model', result.spec['cost_model']);
  return list;
}

function content(result: Result, file: string): HTMLElement[] {
  const notes =
    result.notes.length > 0
      ? element(
          'div',
          { class: result.valid ? 'notes' : 'notes invalid', role: 'note' },
          element('h4', {}, result.valid ? 'Notes' : 'INVALID: do not compare these numbers'),
          element('ul', {}, ...result.notes.map((note) => element('li', {}, note))),
        )
      : result.valid
        ? null
        : element('div', { class: 'notes invalid', role: 'note' }, element('h4', {}, 'INVALID, for a reason not recorded'));
  const part = (title: string, length: number, made: () => HTMLElement) =>
    length > 0
      ? disclosure([title, element('span', { class: 'count' }, `${length}`)], { class: 'part' }, () => [made()])
      : element('p', { class: 'absent' }, `${title}: none recorded.`);
  return [
    notes,
    facts(result),
    metricsTable(result),
    part('Operations and bandwidths', result.operations.length, () => operations(result, file)),
    part('Iterations', result.iterations.length, () => iterations(result, file)),
    part('Byte ledger', result.ledger.length, () => ledger(result, file)),
    result.kind === 'run' && !result.links ? null : part('Links', tablesOf(result).length, () => links(result, file)),
  ].filter((each) => each !== null);
}

export function details(results: Result[]): HTMLElement {
  const few = results.length <= 2;
  return element(
    'section',
    { id: 'results', 'aria-labelledby': 'results-title' },
    element('h2', { id: 'results-title' }, results.length === 1 ? 'Result' : 'Results'),
    ...results.map((result, i) =>
      disclosure(
        [element('h3', {}, result.label), badges(result)],
        { class: `result${result.valid ? '' : ' invalid'}`, id: anchor(i), open: few },
        () => content(result, anchor(i)),
      ),
    ),
  );
}
