// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';

import { scaling } from '../src/data/scaling';
import { metric, result } from './results';

const sized = (ranks: number, throughput: number, more = {}) =>
  result({ ranks, metrics: { throughput: metric(throughput, 'samples/s') }, ...more });

test('efficiency is measured against the smallest run, whatever the order of files', () => {
  const [group] = scaling([sized(16, 150), sized(8, 100)]);

  const points = group!.series[0]!.points;

  // ideal at 16 ranks: 100 × 16/8 = 200; efficiency 150/200
  expect(points.map((p) => [p.ranks, p.ideal, p.efficiency])).toEqual([[8, 100, 1], [16, 200, 0.75]]);
});

test('plans do not share a group, machines do not share a series', () => {
  const groups = scaling([sized(8, 1), sized(8, 2, { machine: { name: 'tree', ranks: 8 } }), { ...sized(8, 3), ...result({ plan: 'fsdp' }) }]);

  expect(groups.map((group) => group.plan)).toEqual(['dp', 'fsdp']);
  expect(groups[0]!.series.map((series) => series.name)).toEqual(['ring · a100', 'tree']);
});
