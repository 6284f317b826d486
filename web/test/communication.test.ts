// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';

import { shares } from '../src/data/communication';
import { iteration, metric, result } from './results';

test('the metrics give the shares: part over the sum of the four', () => {
  const metrics = {
    compute: metric(5), transfer: metric(2), straggler_wait: metric(3), pipeline_bubble: metric(0),
  };

  expect(shares(result({ metrics }))).toEqual({ transfer: 0.2, straggler_wait: 0.3, pipeline_bubble: 0 });
});

test('without these metrics shares are means over iterations', () => {
  const two = result({
    iterations: [
      iteration({ time: 2, compute: 0.5, transfer: 1, pipeline_bubble: 0.5 }),
      iteration({ time: 4, compute: 3, transfer: 1 }),
    ],
  });

  // transfer (1/2 + 1/4) / 2, bubble (0.5/2 + 0/4) / 2
  expect(shares(two)).toEqual({ transfer: 0.375, straggler_wait: 0, pipeline_bubble: 0.125 });
});

test('a result without a breakdown has no shares', () => {
  expect(shares(result({}))).toBeUndefined();
});
