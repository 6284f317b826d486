// SPDX-License-Identifier: Apache-2.0
// The links of a simulation as one of its jobs saw them: how much was taken, the hottest ones, and who slowed it where.
import { element } from '../dom';
import type { Links, Result } from '../result';
import { readable, type Column, type DataTable } from '../table';
import { integer, percent, seconds, words } from '../units';

export interface Shown {
  title: string;
  file: string;
  data: DataTable;
  text: string[][];
}

export const itself = 'its own other operations';
const named = (link: number, linkClass: string): string => `${linkClass} ${link}`;
const jobOf = (links: Links, index: number): string => links.jobs?.[index] || `job ${index + 1}`;

/// What the classes of links carried.
function classes(links: Links): Shown {
  return {
    title: `Classes of links, part of their capacity taken over ${seconds(links.span)}`,
    file: 'link-classes',
    data: {
      columns: [{ name: 'class' }, { name: 'used' }, { name: 'of' }, { name: 'mean of the used' }, { name: 'most' }],
      rows: links.classes.map((row) => [row.class, row.used, row.links, row.mean, row.most]),
    },
    text: links.classes.map((row) => [row.class, integer(row.used), integer(row.links), percent(row.mean), percent(row.most)]),
  };
}

/// The links that most was taken of, with each job's part where there are several.
function hot(links: Links): Shown {
  const count = Math.max(0, ...links.hot.map((row) => row.by_job.length));
  const jobs = count > 1 ? [...Array(count).keys()] : [];
  const columns: Column[] = [{ name: 'link' }, { name: 'taken' }, { name: 'full', unit: 's' }];
  return {
    title: 'Most loaded links',
    file: 'hot-links',
    data: {
      columns: [...columns, ...jobs.map((i) => ({ name: `by ${jobOf(links, i)}` }))],
      rows: links.hot.map((row) => [
        named(row.link, row.class), row.utilisation, row.full, ...jobs.map((i) => row.by_job[i] ?? 0),
      ]),
    },
    text: links.hot.map((row) => [
      named(row.link, row.class), percent(row.utilisation), seconds(row.full), ...jobs.map((i) => percent(row.by_job[i] ?? 0)),
    ]),
  };
}

/// Who slowed the job, on which link, in what.
function slowed(links: Links): Shown {
  const share = (lost: number | null) => (lost === null || !links.lost ? null : lost / links.lost);
  return {
    title: `Slowed on full links: ${seconds(links.lost)} of data moving, summed over communicators`,
    file: 'slowed',
    data: {
      columns: [
        { name: 'lost', unit: 's' }, { name: 'of all lost' }, { name: 'beside' }, { name: 'link' }, { name: 'operation' },
        { name: 'phase' },
      ],
      rows: links.slowed.map((row) => [
        row.lost, share(row.lost), row.by || itself, named(row.link, row.class), row.operation, row.phase,
      ]),
    },
    text: links.slowed.map((row) => [
      seconds(row.lost), percent(share(row.lost)), row.by || itself, named(row.link, row.class), row.operation, row.phase,
    ]),
  };
}

/// What being beside the others costs an iteration.
function slowdown(result: Result): Shown | null {
  const found = result.slowdown;
  if (!found) return null;
  const parts = Object.entries(found.added).filter(([name]) => name !== 'compute');
  const times: [string, number | null][] = [
    ['alone', found.alone],
    ['beside the others', found.together],
    ...parts.map(([name, added]): [string, number | null] => [`more ${words(name)}`, added]),
  ];
  return {
    title: `Slowdown ${found.value === null ? '–' : found.value.toFixed(2)} ×: an iteration of the slowest rank`,
    file: 'slowdown',
    data: { columns: [{ name: 'iteration' }, { name: 'time', unit: 's' }], rows: times },
    text: times.map(([name, time]) => [name, seconds(time)]),
  };
}

export function tablesOf(result: Result): Shown[] {
  const { links } = result;
  if (!links || links.classes.length === 0) return [];
  return [slowdown(result), links.slowed.length > 0 ? slowed(links) : null, hot(links), classes(links)].filter(
    (each) => each !== null,
  );
}

export function links(result: Result, file: string): HTMLElement {
  const box = element('div', { class: 'links' });
  for (const shown of tablesOf(result)) {
    box.append(
      element('h4', {}, shown.title),
      readable(`${shown.title}, ${result.label}`, `${file}-${shown.file}`, shown.data.columns.map((c) => c.name), shown.text, shown.data),
    );
  }
  if (result.links!.slowed.length === 0)
    box.prepend(element('p', { class: 'absent' }, 'Nothing slowed its transfers on the links.'));
  return box;
}
