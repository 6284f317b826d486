// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';

import { variants } from '../src/data/variants';
import { result } from './results';

const placed = (placement: string, ranks = 8) => result({ ranks, machine: { name: 'ring', placement, ranks } });

test('one result per configuration needs no words', () => {
  const results = [result({ ranks: 8 }), result({ ranks: 16 }), result({ plan: 'fsdp' })];

  expect(results.map((r) => variants(results).get(r))).toEqual(['', '', '']);
});

test('the trait that differs is named, at every size of the plan', () => {
  const results = [placed('linear'), placed('random'), placed('linear', 16)];

  const named = variants(results);

  expect(results.map((r) => named.get(r))).toEqual(['placement linear', 'placement random', 'placement linear']);
});

test('exact repeats are numbered', () => {
  const results = [result({}), result({})];

  const named = variants(results);

  expect(results.map((r) => named.get(r))).toEqual(['no. 1', 'no. 2']);
});
