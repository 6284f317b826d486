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

/// Per result, the traits that tell it from results that are otherwise alike: "placement random, batch 32".
/// Sizes of one plan, model and machine share their telling traits, so that they stay one line in a figure.
/// Empty where every configuration occurs once; exact repeats are numbered.
export function variants(results: Result[]): Map<Result, string> {
  const named = new Map<Result, string>();
  for (const family of grouped(results, (r) => [planOf(r), modelOf(r), machineOf(r)].join('\n')).values()) {
    const alike = [...grouped(family, ranksOf).values()];
    const telling = Object.entries(traits).filter(([, trait]) =>
      alike.some((group) => new Set(group.map((r) => text(trait(r)))).size > 1),
    );
    for (const group of alike) {
      const described = grouped(group, (r) =>
        telling.map(([name, trait]) => `${name.replaceAll('_', ' ')} ${text(trait(r))}`).join(', '),
      );
      for (const [words, same] of described)
        same.forEach((r, i) =>
          named.set(r, same.length > 1 ? [words, `no. ${i + 1}`].filter(Boolean).join(', ') : words),
        );
    }
  }
  return named;
}
