// SPDX-License-Identifier: Apache-2.0
import type { Iteration, Result } from '../result';

/// Parts of an iteration's time, each between 0 and 1.
export interface Shares {
  transfer: number;
  straggler_wait: number;
  pipeline_bubble: number;
}

const parts = ['transfer', 'straggler_wait', 'pipeline_bubble'] as const;

/// Arithmetic mean over iterations of part / time, of the slowest rank. Without iterations, the ratio of the metrics.
/// Undefined where a result has neither.
export function shares(result: Result): Shares | undefined {
  const iterations = result.iterations.filter((row) => row.time > 0);
  const mean = (part: (typeof parts)[number]): number | undefined => {
    if (iterations.length > 0)
      return iterations.reduce((sum: number, row: Iteration) => sum + row[part] / row.time, 0) / iterations.length;
    const value = result.metrics[part]?.value;
    const whole = result.metrics['iteration_time']?.value;
    return typeof value === 'number' && whole ? value / whole : undefined;
  };
  const [transfer, straggler_wait, pipeline_bubble] = parts.map(mean);
  if (transfer === undefined || straggler_wait === undefined || pipeline_bubble === undefined) return undefined;
  return { transfer, straggler_wait, pipeline_bubble };
}
