// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';

import type { Links } from '../src/result';
import { itself, tablesOf } from '../src/sections/links';
import { result } from './results';

const links: Links = {
  span: 2,
  classes: [{ class: 'nic', links: 16, used: 4, mean: 0.25, most: 0.5 }],
  hot: [{ link: 7, class: 'nic', utilisation: 0.5, full: 0.1, by_job: [0.2, 0.3] }],
  lost: 0.4,
  slowed: [
    { link: 7, class: 'nic', by: 'b', operation: 'all-reduce', phase: 'backward', lost: 0.3 },
    { link: 7, class: 'nic', by: '', operation: 'send', phase: 'forward', lost: 0.1 },
  ],
  jobs: ['a', 'b'],
};

test('a result without links has no tables of them', () => {
  expect(tablesOf(result({}))).toEqual([]);
});

test('who slowed the job comes first, with its share', () => {
  const [slowed] = tablesOf(result({ links }));

  expect(slowed!.text).toEqual([
    ['300 ms', '75 %', 'b', 'nic 7', 'all-reduce', 'backward'],
    ['100 ms', '25 %', itself, 'nic 7', 'send', 'forward'],
  ]);
});

test('a hot link is split among the jobs by name', () => {
  const hot = tablesOf(result({ links })).find((each) => each.file === 'hot-links')!;

  expect(hot.data.columns.map((column) => column.name)).toEqual(['link', 'taken', 'full', 'by a', 'by b']);
  expect(hot.text).toEqual([['nic 7', '50 %', '100 ms', '20 %', '30 %']]);
});

test('the slowdown tells what an iteration waits longer for', () => {
  const slowdown = { value: 1.5, alone: 1, together: 1.5, added: { compute: 0, transfer: 0.5, straggler_wait: 0, pipeline_bubble: 0 } };

  const [first] = tablesOf(result({ links, slowdown }));

  expect(first!.title).toContain('1.50 ×');
  expect(first!.text.map((row) => row.join(' '))).toEqual([
    'alone 1 s', 'beside the others 1.5 s', 'more transfer 500 ms', 'more straggler wait 0 s', 'more pipeline bubble 0 s',
  ]);
});
