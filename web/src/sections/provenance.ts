// SPDX-License-Identifier: Apache-2.0
// What it takes to get these numbers again: program, machine, seed, environment and the whole spec.
import { disclosure, element } from '../dom';
import type { Result } from '../result';

const plain = (value: unknown): value is string | number | boolean => typeof value !== 'object' || value === null;

function rows(prefix: string, value: Record<string, unknown>): [string, string][] {
  return Object.entries(value).flatMap(([name, entry]): [string, string][] => {
    const path = prefix ? `${prefix}.${name}` : name;
    if (plain(entry)) return entry === '' || entry === null ? [] : [[path, String(entry)]];
    if (Array.isArray(entry)) return entry.length > 0 ? [[path, JSON.stringify(entry)]] : [];
    return rows(path, entry as Record<string, unknown>);
  });
}

function list(pairs: [string, string][]): HTMLElement {
  return element(
    'dl',
    { class: 'provenance' },
    ...pairs.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
  );
}

function provenanceOf(result: Result): HTMLElement[] {
  const parts: [string, object][] = [
    ['Program and environment', result.provenance],
    ['Machine', result.machine],
    ['Spec', result.spec],
  ];
  return parts.flatMap(([title, value]) => {
    const pairs = rows('', value as Record<string, unknown>);
    return pairs.length > 0 ? [element('h4', {}, title), list(pairs)] : [];
  });
}

export function provenance(results: Result[]): HTMLElement {
  const single = results.length === 1;
  return element(
    'section',
    { id: 'provenance', 'aria-labelledby': 'provenance-title' },
    element('h2', { id: 'provenance-title' }, 'Provenance'),
    ...results.map((result) => {
      const { version, commit } = result.provenance as { version?: string; commit?: string };
      const seed = result.spec['seed'];
      const brief = [version && `dlnetbench ${version}`, commit, seed !== undefined && `seed ${String(seed)}`];
      return disclosure(
        [result.label, element('span', { class: 'count' }, brief.filter(Boolean).join(' · '))],
        { class: 'part origin', open: single },
        () => provenanceOf(result),
      );
    }),
  );
}
