// SPDX-License-Identifier: Apache-2.0
// All results in one table.
import { button, element, identifier } from '../dom';
import { cautions, machineOf, ranksOf, type Metric, type Result } from '../result';
import { scrolling } from '../table';
import { integer, percent, quantity, words } from '../units';

const columns = ['iteration_time', 'throughput', 'communication_fraction'];

export const anchor = (index: number): string => `result-${index + 1}`;

export const metricText = (name: string, metric: Metric | undefined, value: number | null | undefined): string =>
  name === 'communication_fraction' ? percent(value) : quantity(value, metric?.unit ?? '');

export function badges(result: Result): HTMLElement {
  const box = element('span', { class: 'badges' });
  box.append(
    element('span', { class: `badge ${result.kind}` }, result.kind === 'run' ? 'measured' : 'simulated'),
    ...cautions(result).map((caution) =>
      element('span', { class: `badge ${caution === 'INVALID' ? 'invalid' : 'scaled'}` }, caution),
    ),
  );
  return box;
}

export function overview(results: Result[]): HTMLElement {
  const definition = element('p', { class: 'definition', id: identifier('definition'), hidden: true, 'aria-live': 'polite' });
  const defined = (name: string): HTMLElement => {
    const text = results.find((r) => r.metrics[name])?.metrics[name]?.definition;
    if (!text) return element('span', {}, words(name));
    return button(
      words(name),
      { class: 'term', 'aria-expanded': 'false', 'aria-controls': definition.id },
      (pressed) => {
        const open = pressed.getAttribute('aria-expanded') === 'true';
        for (const other of head.querySelectorAll('.term')) other.setAttribute('aria-expanded', 'false');
        pressed.setAttribute('aria-expanded', String(!open));
        definition.replaceChildren(element('strong', {}, words(name)), `: ${text}`);
        definition.hidden = open;
      },
    );
  };
  const head = element(
    'tr',
    {},
    element('th', { scope: 'col' }, 'result'),
    element('th', { scope: 'col' }, 'machine'),
    element('th', { scope: 'col', class: 'number' }, 'ranks'),
    ...columns.map((name) => element('th', { scope: 'col', class: 'number' }, defined(name))),
  );
  const body = element('tbody');
  results.forEach((result, i) => {
    body.append(
      element(
        'tr',
        {},
        element('th', { scope: 'row' }, element('a', { href: `#${anchor(i)}` }, result.label), badges(result)),
        element('td', { class: 'machine' }, machineOf(result)),
        element('td', { class: 'number' }, integer(ranksOf(result))),
        ...columns.map((name) =>
          element('td', { class: 'number' }, metricText(name, result.metrics[name], result.metrics[name]?.value)),
        ),
      ),
    );
  });
  const table = element('table', { class: 'overview' }, element('caption', {}, 'All results'), element('thead', {}, head), body);
  return element(
    'section',
    { id: 'overview', 'aria-labelledby': 'overview-title' },
    element('h2', { id: 'overview-title' }, 'Overview'),
    scrolling(table, 'All results'),
    definition,
  );
}
