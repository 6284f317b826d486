// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';

import { firstAfter, marks, traceEvents } from '../src/data/timeline';
import type { TimelineEvent } from '../src/result';

const event = (begin: number, end: number, cause = 'transfer'): TimelineEvent => ({
  begin, end, cause, operation: cause === 'compute' ? 'compute' : 'all-reduce', phase: 'forward', layer: 0,
  microbatch: -1, axis: '',
});

test('an event of many pixels is one rectangle', () => {
  // 10 s over 100 pixels: 2 s to 5 s are pixels 20 to 50
  expect([...marks([event(2, 5)], 0, 10, 100)]).toEqual([['transfer', [{ x: 20, width: 30, y: 0, height: 1 }]]]);
});

test('an event is cut at the window', () => {
  // the window shows 4 s to 6 s over 100 pixels: of 2 s to 5 s the first 50 pixels are left
  expect(marks([event(2, 5)], 4, 6, 100).get('transfer')).toEqual([{ x: 0, width: 50, y: 0, height: 1 }]);
});

test('events narrower than a pixel share its height by their time', () => {
  // one pixel for 4 s: 3 s of compute forward, 1 s of transfer
  const drawn = marks([event(0, 3, 'compute'), event(3, 4)], 0, 4, 1);

  expect(drawn.get('compute forward')).toEqual([{ x: 0, width: 1, y: 0, height: 3 / 4 }]);
  expect(drawn.get('transfer')).toEqual([{ x: 0, width: 1, y: 3 / 4, height: 1 / 4 }]);
});

test('marks are bounded by pixels and classes, and cover all time', () => {
  const many = Array.from({ length: 10_000 }, (_, i) => event(i, i + 1, i % 2 ? 'transfer' : 'compute'));

  const drawn = [...marks(many, 0, 10_000, 100).values()].flat();

  expect(drawn.length).toBeLessThanOrEqual(2 * 100);
  expect(drawn.reduce((sum, mark) => sum + mark.width * mark.height, 0)).toBeCloseTo(100);
});

test('the first event that ends after a time is found', () => {
  const three = [event(0, 1), event(1, 2), event(2, 3)];

  expect([-1, 0, 0.5, 1, 2.5, 3].map((time) => firstAfter(three, time))).toEqual([0, 0, 0, 1, 2, 3]);
});

test('the trace for Perfetto counts in microseconds', () => {
  const trace = JSON.parse(traceEvents('x', [{ rank: 3, role: 1, events: [event(0.001, 0.003)] }]));

  expect(trace.traceEvents.at(-1)).toMatchObject({ ph: 'X', tid: 3, ts: 1000, dur: 2000 });
});
