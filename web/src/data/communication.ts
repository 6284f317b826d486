// SPDX-License-Identifier: Apache-2.0
import type { Iteration, Result } from '../result';

/// Parts of an iteration's time, each between 0 and 1.
export interface Shares {
  transfer: number;
  straggler_wait: number;
  pipeline_bubble: number;
}

const parts = ['compute', 'transfer', 'straggler_wait', 'pipeline_bubble'] as const;
type Parts = Record<(typeof parts)[number], number>;

function sharesOf(time: Parts): Shares | undefined {
  const whole = parts.reduce((sum, part) => sum + time[part], 0);
  if (!(whole > 0)) return undefined;
  return {
    transfer: time.transfer / whole,
    straggler_wait: time.straggler_wait / whole,
    pipeline_bubble: time.pipeline_bubble / whole,
  };
}

function metricParts(result: Result): Parts | undefined {
  const values = parts.map((part) => [part, result.metrics[part]?.value] as const);
  return values.every(([, value]) => typeof value === 'number') ? (Object.fromEntries(values) as Parts) : undefined;
}

/// part / (compute + transfer + straggler wait + pipeline bubble), of the metrics: they are taken on the rank with the
/// largest share of communication, so that the three add up to the communication fraction. A result without these
/// metrics gives the mean over its iterations, of the slowest rank; one without iterations gives nothing.
export function shares(result: Result): Shares | undefined {
  const metrics = metricParts(result);
  if (metrics) return sharesOf(metrics);
  const each = result.iterations.flatMap((row: Iteration) => sharesOf(row) ?? []);
  if (each.length === 0) return undefined;
  const mean = (part: keyof Shares) => each.reduce((sum, share) => sum + share[part], 0) / each.length;
  return {
    transfer: mean('transfer'),
    straggler_wait: mean('straggler_wait'),
    pipeline_bubble: mean('pipeline_bubble'),
  };
}
