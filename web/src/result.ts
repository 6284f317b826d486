// SPDX-License-Identifier: Apache-2.0
// dlnetbench.result/1 as the report reads it. Times in seconds, sizes in bytes, rates in bytes per second;
// null where a quantity is not finite.

export type Quantity = number | null;

export interface Metric {
  value: Quantity;
  unit: string;
  count: number;
  low: Quantity;
  high: Quantity;
  definition: string;
}

export interface Spread {
  count: number;
  min: Quantity;
  mean: Quantity;
  median: Quantity;
  p95: Quantity;
  p99: Quantity;
  max: Quantity;
}

interface Traffic {
  role: number;
  axis: string;
  operation: string;
  phase: string;
  dtype: string;
  group_size: number;
  count: number;
  bytes_each: number;
}

export interface OperationRow extends Traffic {
  time: Spread;
  exposed: Quantity;
  algorithm_bandwidth: Quantity;
  bus_bandwidth: Quantity;
}

export interface LedgerRow extends Traffic {
  bytes_total: number;
  padding_bytes: number;
}

export interface Iteration {
  iteration: number;
  time: number;
  communication_fraction: number;
  compute: number;
  transfer: number;
  straggler_wait: number;
  pipeline_bubble: number;
}

export interface TimelineEvent {
  begin: number;
  end: number;
  operation: string;
  phase: string;
  layer: number;
  microbatch: number;
  axis: string;
  cause: string;
}

export interface TimelineRank {
  rank: number;
  role: number;
  events: TimelineEvent[];
}

export interface Timeline {
  iteration: number;
  truncated: boolean;
  ranks: TimelineRank[];
}

export interface Spec {
  model?: string;
  plan?: { name?: string; flavour?: string };
  ranks?: number;
  message_scale?: number;
  compute_scale?: number;
  [name: string]: unknown;
}

export interface Machine {
  name?: string;
  device?: string;
  topology?: string;
  placement?: string;
  source?: string;
  ranks?: number;
  nodes?: number;
  devices_per_node?: number;
}

/// What was taken of the machine's links, and what slowed this job. `jobs`: names in the order of `by_job`.
export interface Links {
  span: number;
  classes: { class: string; links: number; used: number; mean: Quantity; most: Quantity }[];
  hot: { link: number; class: string; utilisation: Quantity; full: Quantity; by_job: number[] }[];
  lost: Quantity;
  slowed: { link: number; class: string; by: string; operation: string; phase: string; lost: Quantity }[];
  jobs?: string[];
}

export interface Slowdown {
  value: Quantity;
  alone: Quantity;
  together: Quantity;
  added: Record<string, number>;
}

export interface Result {
  schema: string;
  kind: string;
  label: string;
  valid: boolean;
  executor: string;
  library?: string;
  spec: Spec;
  machine: Machine;
  grid?: { axis: string; size: number }[];
  global_batch?: number;
  sequence?: number;
  metrics: Record<string, Metric>;
  operations: OperationRow[];
  iterations: Iteration[];
  ledger: LedgerRow[];
  timeline: Partial<Timeline>;
  job?: string;
  slowdown?: Slowdown;
  links?: Links;
  notes: string[];
  provenance: Record<string, unknown>;
}

/// Everything the page shows: a JSON array in a script element that is never run.
export function readResults(document: Document): Result[] {
  const text = document.getElementById('dlnetbench-results')?.textContent ?? '[]';
  return JSON.parse(text) as Result[];
}

export const planOf = (result: Result): string => result.spec.plan?.name ?? 'unnamed plan';
export const modelOf = (result: Result): string => result.spec.model ?? 'unnamed model';
export const ranksOf = (result: Result): number => result.machine.ranks || result.spec.ranks || 0;
export const machineOf = (result: Result): string =>
  [result.machine.name, result.machine.device].filter(Boolean).join(' · ') || 'unnamed machine';

/// What sets a result apart from a full-size valid one, in words; empty for most.
export function cautions(result: Result): string[] {
  const words: string[] = [];
  if (!result.valid) words.push('INVALID');
  for (const [name, scale] of [
    ['messages', result.spec.message_scale],
    ['compute', result.spec.compute_scale],
  ] as const)
    if (scale !== undefined && scale !== 1) words.push(`scaled: ${name} × ${fraction(scale)}`);
  return words;
}

// 1/64 reads better than 0.015625.
function fraction(scale: number): string {
  const inverse = 1 / scale;
  return scale > 0 && scale < 1 && Math.abs(inverse - Math.round(inverse)) < 1e-9
    ? `1/${Math.round(inverse)}`
    : String(scale);
}
