// SPDX-License-Identifier: Apache-2.0
// From events to the few rectangles that a screen can show.
import type { TimelineEvent, TimelineRank } from '../result';

/// Compute is told apart by phase, everything else by what it waited for.
export function classOf(event: TimelineEvent): string {
  const phased = event.cause === 'compute' && event.operation === 'compute';
  return phased && (event.phase === 'forward' || event.phase === 'backward') ? `compute ${event.phase}` : event.cause;
}

/// x and width in pixels from the left of the drawing; y and height as parts of the row.
export interface Mark {
  x: number;
  width: number;
  y: number;
  height: number;
}

/// First event that ends after `time`; events are in order and do not overlap.
export function firstAfter(events: TimelineEvent[], time: number): number {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (events[middle]!.end > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

/// Marks per class for the window [from, to) seconds drawn `width` pixels wide. An event of a pixel or more is one
/// rectangle; in a column where events are narrower, each class has its share of the time as height. The number of
/// marks is bounded by pixels × classes, however many events there are.
export function marks(events: TimelineEvent[], from: number, to: number, width: number): Map<string, Mark[]> {
  const made = new Map<string, Mark[]>();
  const put = (name: string, mark: Mark) => {
    const list = made.get(name);
    if (list) list.push(mark);
    else made.set(name, [mark]);
  };
  const pixels = width / (to - from);
  let column = { at: -1, begin: 0, end: 0 };
  let filled = new Map<string, number>(); // class → pixels of the column
  const flush = () => {
    const span = column.end - column.begin;
    let y = 0;
    for (const [name, part] of [...filled].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const height = part / span;
      put(name, { x: column.begin, width: span, y, height });
      y += height;
    }
    filled = new Map();
  };

  for (let i = firstAfter(events, from); i < events.length && events[i]!.begin < to; i++) {
    const event = events[i]!;
    const begin = (Math.max(event.begin, from) - from) * pixels;
    const end = (Math.min(event.end, to) - from) * pixels;
    if (end - begin >= 1) {
      flush();
      put(classOf(event), { x: begin, width: end - begin, y: 0, height: 1 });
      continue;
    }
    for (let at = begin; at < end; ) {
      const here = Math.floor(at);
      const next = Math.min(end, here + 1);
      if (here !== column.at || filled.size === 0) {
        flush();
        column = { at: here, begin: at, end: next };
      }
      column.end = next;
      filled.set(classOf(event), (filled.get(classOf(event)) ?? 0) + (next - at));
      at = next;
    }
  }
  flush();
  return made;
}

export const lastEnd = (ranks: TimelineRank[]): number =>
  ranks.reduce((latest, rank) => Math.max(latest, rank.events.at(-1)?.end ?? 0), 0);

/// The trace-event format that Perfetto and chrome://tracing open; its times are microseconds.
export function traceEvents(label: string, ranks: TimelineRank[]): string {
  const microsecond = 1e6;
  const named = ranks.map(({ rank, role }) => ({
    name: 'thread_name', ph: 'M', pid: 0, tid: rank, args: { name: `rank ${rank}, role ${role}` },
  }));
  const events = ranks.flatMap(({ rank, events }) =>
    events.map(({ begin, end, operation, phase, layer, microbatch, axis, cause }) => ({
      name: operation, cat: cause, ph: 'X', pid: 0, tid: rank,
      ts: begin * microsecond, dur: (end - begin) * microsecond,
      args: { phase, layer, microbatch, axis, cause },
    })),
  );
  const process = { name: 'process_name', ph: 'M', pid: 0, args: { name: label } };
  return JSON.stringify({ displayTimeUnit: 'ns', traceEvents: [process, ...named, ...events] });
}
