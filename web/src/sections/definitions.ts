// SPDX-License-Identifier: Apache-2.0
import { disclosure, element } from '../dom';
import type { Result } from '../result';
import { words } from '../units';

/// Every metric once, for paper, where nothing can be pressed.
export function definitions(results: Result[]): HTMLElement {
  const known = new Map<string, string>();
  for (const result of results)
    for (const [name, metric] of Object.entries(result.metrics))
      if (metric.definition && !known.has(name)) known.set(name, metric.definition);
  return element(
    'section',
    { id: 'definitions', 'aria-labelledby': 'definitions-title' },
    element('h2', { id: 'definitions-title' }, 'Definitions'),
    disclosure(`${known.size} metrics`, { class: 'part' }, () => [
      element(
        'dl',
        {},
        ...[...known].map(([name, text]) => element('div', {}, element('dt', {}, words(name)), element('dd', {}, text))),
      ),
    ]),
  );
}
