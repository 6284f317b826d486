// SPDX-License-Identifier: Apache-2.0
// The smallest results that a test can say something about.
import type { Iteration, Metric, Result } from '../src/result';

export const metric = (value: number, unit = 's'): Metric => ({
  value, unit, count: 1, low: value, high: value, definition: 'as in the test',
});

export function result(given: Partial<Result> & { plan?: string; ranks?: number }): Result {
  const { plan = 'dp', ranks = 8, ...rest } = given;
  return {
    schema: 'dlnetbench.result/1', kind: 'simulate', label: `${plan} on ${ranks}`, valid: true, executor: 'sim',
    spec: { model: 'vit-h', plan: { name: plan }, ranks }, machine: { name: 'ring', device: 'a100', ranks },
    metrics: {}, operations: [], iterations: [], ledger: [], timeline: {}, notes: [], provenance: {}, ...rest,
  };
}

export const iteration = (parts: Partial<Iteration>): Iteration => ({
  iteration: 0, time: 1, communication_fraction: 0, compute: 0, transfer: 0, straggler_wait: 0, pipeline_bubble: 0, ...parts,
});
