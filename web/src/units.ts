// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them: four significant digits and an SI prefix where the unit takes one.

const missing = '–';

export function significant(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return missing;
  if (value === 0) return '0';
  const size = Math.floor(Math.log10(Math.abs(value)));
  if (size < -4 || size >= 7) return value.toExponential(digits - 1).replace('e+', 'e');
  const text = value.toFixed(Math.max(0, digits - 1 - size));
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

export interface Scale {
  factor: number; // displayed = value × factor
  unit: string;
}

const prefixes: [number, string][] = [
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
  [1, ''],
  [1e-3, 'm'],
  [1e-6, 'µ'],
  [1e-9, 'n'],
];

const growing = new Set(['B', 'B/s', 'bytes', 'bytes/s', 'FLOP', 'FLOP/s', 'bit/s', 'W', 'J', 'Hz']);

/// The prefix that suits values up to `largest`. Seconds only shrink; bytes, FLOP and the like only grow; other
/// units, such as samples/s, stand as they are.
export function scaleFor(largest: number, unit: string): Scale {
  const size = Math.abs(largest);
  const grows = growing.has(unit);
  if (!grows && unit !== 's') return { factor: 1, unit };
  const base = unit.replace('bytes', 'B');
  if (size === 0 || !Number.isFinite(size)) return { factor: 1, unit: base };
  for (const [power, prefix] of prefixes) {
    if (grows ? power < 1 : power > 1) continue;
    if (size >= power) return { factor: 1 / power, unit: prefix + base };
  }
  return grows ? { factor: 1, unit: base } : { factor: 1e9, unit: 'ns' };
}

export function quantity(value: number | null | undefined, unit: string): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return missing;
  const scale = scaleFor(value, unit);
  const text = significant(value * scale.factor);
  return scale.unit === '' || scale.unit === '1' ? text : `${text} ${scale.unit}`;
}

export const percent = (fraction: number | null | undefined): string =>
  fraction === null || fraction === undefined ? missing : `${significant(fraction * 100, 3)} %`;

export const seconds = (value: number | null | undefined): string => quantity(value, 's');
export const bytes = (value: number | null | undefined): string => quantity(value, 'B');
export const rate = (value: number | null | undefined): string => quantity(value, 'B/s');
export const integer = (value: number | null | undefined): string =>
  value === null || value === undefined ? missing : value.toLocaleString('en-US').replaceAll(',', '\u202f');

/// "straggler_wait" → "straggler wait"
export const words = (name: string): string => name.replaceAll('_', ' ');
