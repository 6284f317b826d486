// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';

import { shares } from '../src/data/communication';
import { iteration, metric, result } from './results';

test('shares are means over iterations of part over time', () => {
  const two = result({
    iterations: [iteration({ time: 2, transfer: 1, pipeline_bubble: 0.5 }), iteration({ time: 4, transfer: 1 })],
  });

  // transfer (1/2 + 1/4) / 2, bubble (0.5/2 + 0/4) / 2
  expect(shares(two)).toEqual({ transfer: 0.375, straggler_wait: 0, pipeline_bubble: 0.125 });
});

test('without iterations the metrics give the shares', () => {
  const metrics = {
    iteration_time: metric(4), transfer: metric(1), straggler_wait: metric(2), pipeline_bubble: metric(0),
  };

  expect(shares(result({ metrics }))).toEqual({ transfer: 0.25, straggler_wait: 0.5, pipeline_bubble: 0 });
});

test('a result without a breakdown has no shares', () => {
  expect(shares(result({}))).toBeUndefined();
});
