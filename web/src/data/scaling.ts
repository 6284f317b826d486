// SPDX-License-Identifier: Apache-2.0
import { machineOf, modelOf, planOf, ranksOf, type Metric, type Result } from '../result';
import { grouped, variants } from './variants';

export interface ScalingPoint {
  ranks: number;
  throughput: number;
  low: number;
  high: number;
  ideal: number;      // throughput of the smallest run × ranks / its ranks
  efficiency: number; // throughput / ideal
  valid: boolean;
}

/// One machine (and variant) of one plan and model, by ranks.
export interface ScalingSeries {
  name: string;
  points: ScalingPoint[];
}

export interface ScalingGroup {
  plan: string;
  model: string;
  unit: string;
  series: ScalingSeries[];
}

function series(name: string, results: Result[]): ScalingSeries {
  const measured = results
    .flatMap((result) => {
      const metric: Metric | undefined = result.metrics['throughput'];
      return metric && typeof metric.value === 'number' && metric.value > 0 && ranksOf(result) > 0
        ? [{ result, metric, throughput: metric.value, ranks: ranksOf(result) }]
        : [];
    })
    .sort((a, b) => a.ranks - b.ranks);
  const smallest = measured[0];
  return {
    name,
    points: measured.map(({ result, metric, throughput, ranks }) => {
      const ideal = smallest ? (smallest.throughput * ranks) / smallest.ranks : throughput;
      return {
        ranks,
        throughput,
        low: metric.low ?? throughput,
        high: metric.high ?? throughput,
        ideal,
        efficiency: throughput / ideal,
        valid: result.valid,
      };
    }),
  };
}

/// Throughputs compare only within one plan and model: one group each, in order of appearance.
export function scaling(results: Result[]): ScalingGroup[] {
  const variant = variants(results);
  return [...grouped(results, (r) => `${planOf(r)}\n${modelOf(r)}`).values()].map((group) => ({
    plan: planOf(group[0]!),
    model: modelOf(group[0]!),
    unit: group.find((r) => r.metrics['throughput'])?.metrics['throughput']?.unit || 'samples/s',
    series: [...grouped(group, (r) => [machineOf(r), variant.get(r)].filter(Boolean).join(', '))]
      .map(([name, same]) => series(name, same))
      .filter((each) => each.points.length > 0),
  }));
}
