// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';

import { cautions } from '../src/result';
import { csv } from '../src/table';
import { bytes, percent, quantity, rate, seconds, significant } from '../src/units';
import { result } from './results';

test('numbers keep four digits and drop empty ones', () => {
  expect([0, 1.25, 12.3456, 1234.5, 999999, 1e9, 1.5e-7].map((x) => significant(x))).toEqual([
    '0', '1.25', '12.35', '1235', '999999', '1.000e9', '1.500e-7',
  ]);
});

test('seconds shrink, bytes grow, other units stand as they are', () => {
  expect(seconds(0.00125)).toBe('1.25 ms');
  expect(seconds(125)).toBe('125 s');
  expect(bytes(25296180)).toBe('25.3 MB');
  expect(rate(12.5e9)).toBe('12.5 GB/s');
  expect(quantity(240.25e12, 'FLOP/s')).toBe('240.3 TFLOP/s');
  expect(quantity(1636.2, 'samples/s')).toBe('1636 samples/s');
  expect(percent(7 / 23)).toBe('30.4 %');
  expect(quantity(null, 's')).toBe('–');
});

test('CSV quotes what would break a row, and writes numbers in full', () => {
  const table = { columns: [{ name: 'what' }, { name: 'time', unit: 's' }], rows: [['a, "b"', 0.1 + 0.2], [null, 1]] };

  expect(csv(table)).toBe('what,time [s]\r\n"a, ""b""",0.30000000000000004\r\n,1\r\n');
});

test('INVALID and scaled results are labelled', () => {
  expect(cautions(result({}))).toEqual([]);
  expect(cautions(result({ valid: false, spec: { message_scale: 1 / 64, compute_scale: 0 } }))).toEqual([
    'INVALID', 'scaled: messages × 1/64', 'scaled: compute × 0',
  ]);
});
