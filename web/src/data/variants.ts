// SPDX-License-Identifier: Apache-2.0
// What tells results of the same plan, model, machine and size apart.
import { machineOf, modelOf, planOf, ranksOf, type Result } from '../result';

const traits: Record<string, (result: Result) => unknown> = {
  kind: (r) => (r.kind === 'run' ? 'measured' : 'simulated'),
  library: (r) => r.library,
  backend: (r) => r.spec['backend'],
  flavour: (r) => r.spec.plan?.flavour,
  passes: (r) => (r.spec.plan as Record<string, unknown> | undefined)?.['passes'],
  placement: (r) => r.machine.placement,
  network: (r) => r.spec['network'],
  cost_model: (r) => r.spec['cost_model'],
  batch: (r) => r.spec['batch'],
  sequence: (r) => r.spec['sequence'],
  dtype: (r) => r.spec['dtype'],
  gradient_dtype: (r) => r.spec['gradient_dtype'],
  message_scale: (r) => r.spec.message_scale,
  compute_scale: (r) => r.spec.compute_scale,
  progress: (r) => r.spec['progress'],
  seed: (r) => r.spec['seed'],
};

const text = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? 'none' : JSON.stringify(value);

export function grouped<Item, Key>(items: Item[], key: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group) group.push(item);
    else groups.set(key(item), [item]);
  }
  return groups;
}

/// Per result, the traits that differ between results that are otherwise alike: "placement random, batch 32".
/// Empty where every configuration occurs once; exact repeats are numbered.
export function variants(results: Result[]): Map<Result, string> {
  const alike = grouped(results, (r) => [planOf(r), modelOf(r), machineOf(r), ranksOf(r)].join('\n'));
  const telling = Object.entries(traits).filter(([, trait]) =>
    [...alike.values()].some((group) => new Set(group.map((r) => text(trait(r)))).size > 1),
  );
  const named = new Map(
    results.map((r) => [r, telling.map(([name, trait]) => `${name.replaceAll('_', ' ')} ${text(trait(r))}`).join(', ')]),
  );
  for (const group of alike.values())
    for (const same of grouped(group, (r) => named.get(r)).values())
      same.forEach((r, i) => {
        if (same.length > 1) named.set(r, [named.get(r), `no. ${i + 1}`].filter(Boolean).join(', '));
      });
  return named;
}
