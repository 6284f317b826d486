// SPDX-License-Identifier: Apache-2.0
import { graphic, type EChartsCoreOption, type EChartsType } from 'echarts/core';

import { classOf, firstAfter, lastEnd, marks, traceEvents, type Mark } from '../data/timeline';
import { button, element } from '../dom';
import type { Drawing, Figure, Panel, View } from '../figure';
import type { Result, TimelineEvent, TimelineRank } from '../result';
import { scaleFor, seconds, words, type Scale } from '../units';

const classes = ['compute forward', 'compute backward', 'compute', 'transfer', 'straggler_wait', 'pipeline_bubble'];
const names: Record<string, string> = { compute: 'other compute' };

// All marks of one class and rank are one path: the page holds ranks × classes elements, not events.
interface Rectangles {
  rectangles: Mark[];
}
const Rectangles = graphic.extendShape({
  shape: { rectangles: [] as Mark[] },
  buildPath(context: { rect(x: number, y: number, width: number, height: number): void }, shape: Rectangles) {
    for (const { x, y, width, height } of shape.rectangles) context.rect(x, y, width, height);
  },
});
graphic.registerShape('rectangles', Rectangles);

interface DrawingArea {
  coordSys: { x: number; y: number; width: number; height: number };
  dataIndex: number;
}
interface Coordinates {
  value(dimension: number): number;
  coord(value: number[]): [number, number];
  size(value: number[]): [number, number];
}

// Where events are narrower than this many pixels, their shares are drawn; with many ranks speed matters more.
const columnFor = (ranks: number): number => (ranks > 16 ? 2 : 1);

function rowElements(
  rank: TimelineRank,
  column: number,
  scale: Scale,
  view: View,
  area: DrawingArea,
  api: Coordinates,
) {
  const { x: left, width } = area.coordSys;
  const origin = api.coord([0, area.dataIndex]);
  const perSecond = api.size([1, 0])[0] * scale.factor;
  const rowHeight = api.size([0, 1])[1];
  const top = origin[1] - rowHeight / 2 + 1;
  const height = Math.max(1, rowHeight - 2);
  const from = (left - origin[0]) / perSecond;
  const drawn = marks(rank.events, from, from + width / perSecond, width / column);
  return {
    type: 'group',
    children: classes.flatMap((name) => {
      const found = drawn.get(name);
      if (!found) return [];
      const rectangles = found.map((mark) => ({
        x: left + mark.x * column,
        width: mark.width * column,
        y: top + mark.y * height,
        height: mark.height * height,
      }));
      return [{ type: 'rectangles', shape: { rectangles }, style: { fill: view.theme.cause[name] }, name }];
    }),
  };
}

const outline = (scale: Scale, colour: string) => (area: DrawingArea, api: Coordinates) => {
  const [begin, y] = api.coord([api.value(0) * scale.factor, api.value(2)]);
  const [end] = api.coord([api.value(1) * scale.factor, api.value(2)]);
  const { x, width } = area.coordSys;
  const left = Math.max(begin, x);
  const right = Math.min(end, x + width);
  const height = api.size([0, 1])[1];
  return {
    type: 'rect',
    shape: { x: left - 1, y: y - height / 2, width: Math.max(3, right - left + 2), height },
    style: { fill: 'none', stroke: colour, lineWidth: 2 },
    invisible: right < x || left > x + width,
  };
};

interface Choice {
  row: number;
  index: number;
}

/// One timeline: what is drawn, and which event is chosen.
class TimelinePanel implements Panel {
  readonly title: string;
  readonly height: number;
  readonly exports: NonNullable<Panel['exports']>;
  private readonly ranks: TimelineRank[];
  private readonly duration: number;
  private readonly scale: Scale;
  private choice: Choice | undefined;

  constructor(
    result: Result,
    readonly file: string,
  ) {
    this.ranks = result.timeline.ranks ?? [];
    this.duration = lastEnd(this.ranks);
    this.scale = scaleFor(this.duration, 's');
    const cut = result.timeline.truncated ? ', cut short' : '';
    this.title = `Iteration ${result.timeline.iteration ?? ''} of ${result.label}${cut}`;
    this.height = this.ranks.length * this.rowHeight() + 130;
    this.exports = [
      {
        name: 'Perfetto',
        extension: 'perfetto.json',
        type: 'application/json',
        text: () => traceEvents(result.label, this.ranks),
      },
    ];
  }

  private rowHeight(): number {
    return this.ranks.length <= 16 ? 26 : this.ranks.length <= 40 ? 18 : 14;
  }

  option(view: View): EChartsCoreOption {
    const { theme, compact } = view;
    const size = compact || this.rowHeight() < 18 ? 10 : 12;
    const present = new Set(this.ranks.flatMap(({ events }) => [...new Set(events.map(classOf))]));
    return {
      aria: { enabled: false },
      grid: { left: compact ? 52 : 104, right: 16, top: compact ? 58 : 34, bottom: 84 },
      legend: {
        top: 0,
        left: 0,
        itemWidth: 14,
        itemHeight: 10,
        selectedMode: false,
        textStyle: { color: theme.text, fontSize: compact ? 11 : 12 },
        data: classes.filter((name) => present.has(name)).map((name) => names[name] ?? words(name)),
      },
      xAxis: {
        type: 'value',
        min: 0,
        max: this.duration * this.scale.factor,
        name: `time since the iteration began (${this.scale.unit})`,
        nameLocation: 'middle',
        nameGap: 26,
        nameTextStyle: { color: theme.muted, fontSize: compact ? 11 : 12 },
        axisLabel: { color: theme.muted, fontSize: compact ? 10 : 12, hideOverlap: true, showMaxLabel: false },
        splitLine: { lineStyle: { color: theme.line } },
      },
      yAxis: {
        type: 'category',
        inverse: true,
        data: this.ranks.map(({ rank, role }) => (compact ? `${rank} · r${role}` : `rank ${rank} · role ${role}`)),
        axisTick: { show: false },
        axisLine: { lineStyle: { color: theme.muted } },
        axisLabel: { interval: 0, color: theme.text, fontSize: size },
      },
      dataZoom: [
        { type: 'slider', filterMode: 'none', bottom: 8, height: 22, brushSelect: false, showDataShadow: false, showDetail: false },
        { type: 'inside', filterMode: 'none', zoomOnMouseWheel: 'ctrl', preventDefaultMouseMove: false },
      ],
      series: [
        {
          id: 'events',
          type: 'custom',
          silent: true,
          clip: true,
          renderItem: (area: DrawingArea, api: Coordinates) =>
            rowElements(this.ranks[area.dataIndex]!, columnFor(this.ranks.length), this.scale, view, area, api),
          encode: { x: [0, 1], y: 2 },
          data: this.ranks.map((_, row) => [0, this.duration * this.scale.factor, row]),
        },
        {
          id: 'choice',
          type: 'custom',
          silent: true,
          clip: true,
          z: 10,
          renderItem: outline(this.scale, theme.text),
          encode: { x: [], y: 2 },
          data: this.chosen(),
        },
        // The legend's entries: series without data.
        ...classes.map((name) => ({
          type: 'bar',
          name: names[name] ?? words(name),
          itemStyle: { color: theme.cause[name] },
          data: [],
        })),
      ],
    };
  }

  table() {
    return {
      columns: [
        { name: 'rank' },
        { name: 'role' },
        { name: 'begin', unit: 's' },
        { name: 'end', unit: 's' },
        { name: 'operation' },
        { name: 'phase' },
        { name: 'layer' },
        { name: 'micro-batch' },
        { name: 'axis' },
        { name: 'cause' },
      ],
      rows: this.ranks.flatMap(({ rank, role, events }) =>
        events.map((e) => [
          rank, role, e.begin, e.end, e.operation, e.phase, e.layer < 0 ? null : e.layer,
          e.microbatch < 0 ? null : e.microbatch, e.axis, e.cause,
        ]),
      ),
    };
  }

  attach(chart: EChartsType, host: HTMLElement, controls: HTMLElement): void {
    const readout = element('output', { class: 'readout', 'aria-live': 'polite' }, this.help());
    const zoomBy = (factor: number) => this.zoom(chart, factor);
    controls.append(
      element(
        'div',
        { role: 'group', 'aria-label': 'Zoom', class: 'zoom' },
        button('Zoom in', {}, () => zoomBy(1 / 2)),
        button('Zoom out', {}, () => zoomBy(2)),
        button('Whole iteration', {}, () => zoomBy(Infinity)),
      ),
      readout,
    );
    host.tabIndex = 0;
    host.setAttribute('role', 'application');
    host.setAttribute('aria-roledescription', 'timeline');

    const choose = (choice: Choice | undefined, follow: boolean) => {
      this.choice = choice;
      chart.setOption({ series: [{ id: 'choice', data: this.chosen() }] });
      readout.textContent = choice ? this.describe(choice) : this.help();
      if (choice && follow) this.follow(chart, choice);
    };
    const at = (event: { offsetX: number; offsetY: number }): Choice | undefined => {
      const point = [event.offsetX, event.offsetY];
      if (!chart.containPixel('grid', point)) return undefined;
      const [time, row] = chart.convertFromPixel('grid', point) as [number, number];
      const events = this.ranks[row]?.events ?? [];
      const index = firstAfter(events, time / this.scale.factor);
      return events[index] ? { row, index } : undefined;
    };
    chart.getZr().on('mousemove', (event) => {
      const hit = at(event);
      if (hit && (hit.row !== this.choice?.row || hit.index !== this.choice.index)) choose(hit, false);
    });
    chart.getZr().on('click', (event) => choose(at(event), false));
    host.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === '+' || event.key === '=') zoomBy(1 / 2);
      else if (event.key === '-') zoomBy(2);
      else if (event.key === '0') zoomBy(Infinity);
      else {
        const next = this.moved(event.key);
        if (!next) return;
        choose(next, true);
      }
      event.preventDefault();
    });
  }

  private chosen(): number[][] {
    const event = this.choice && this.event(this.choice);
    return event && this.choice ? [[event.begin, event.end, this.choice.row]] : [];
  }

  private event({ row, index }: Choice): TimelineEvent | undefined {
    return this.ranks[row]?.events[index];
  }

  private moved(key: string): Choice | undefined {
    const steps: Record<string, [number, number]> = {
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      Home: [0, -Infinity],
      End: [0, Infinity],
    };
    const step = steps[key];
    if (!step || this.ranks.length === 0) return undefined;
    if (!this.choice) return { row: 0, index: 0 };
    const row = Math.min(Math.max(this.choice.row + step[0], 0), this.ranks.length - 1);
    const events = this.ranks[row]!.events;
    const from = this.event(this.choice);
    const index =
      row === this.choice.row || !from
        ? this.choice.index + step[1]
        : firstAfter(events, (from.begin + from.end) / 2);
    return { row, index: Math.min(Math.max(index, 0), events.length - 1) };
  }

  private describe(choice: Choice): string {
    const { rank, role } = this.ranks[choice.row]!;
    const event = this.event(choice);
    if (!event) return `rank ${rank} (role ${role}) has no events`;
    const place = [
      event.layer >= 0 ? `layer ${event.layer}` : '',
      event.microbatch >= 0 ? `micro-batch ${event.microbatch}` : '',
      event.axis ? `axis ${event.axis}` : '',
    ];
    return [
      `rank ${rank} (role ${role})`,
      event.operation,
      event.phase,
      ...place.filter(Boolean),
      event.cause === event.operation ? '' : words(event.cause),
      `${seconds(event.end - event.begin)} from ${seconds(event.begin)}`,
    ]
      .filter(Boolean)
      .join(' · ');
  }

  private help(): string {
    return (
      'Point at an event, or use the arrow keys on the focused chart; + and − or Ctrl and the wheel zoom. ' +
      'Where events are too narrow to draw, a column shows their shares of the time as height.'
    );
  }

  private window(chart: EChartsType): { from: number; to: number } {
    const zooms = chart.getOption().dataZoom as { startValue: number; endValue: number }[];
    return { from: zooms[0]!.startValue / this.scale.factor, to: zooms[0]!.endValue / this.scale.factor };
  }

  private show(chart: EChartsType, from: number, to: number): void {
    const span = Math.min(to - from, this.duration);
    const begin = Math.min(Math.max(from, 0), this.duration - span);
    chart.dispatchAction({
      type: 'dataZoom',
      dataZoomIndex: 0,
      startValue: begin * this.scale.factor,
      endValue: (begin + span) * this.scale.factor,
    });
  }

  private zoom(chart: EChartsType, factor: number): void {
    if (factor === Infinity) return this.show(chart, 0, this.duration);
    const { from, to } = this.window(chart);
    const event = this.choice && this.event(this.choice);
    const middle = event && event.end > from && event.begin < to ? (event.begin + event.end) / 2 : (from + to) / 2;
    const half = ((to - from) / 2) * factor;
    this.show(chart, middle - half, middle + half);
  }

  private follow(chart: EChartsType, choice: Choice): void {
    const { from, to } = this.window(chart);
    const event = this.event(choice);
    if (!event || (event.begin < to && event.end > from)) return;
    const middle = (event.begin + event.end) / 2;
    this.show(chart, middle - (to - from) / 2, middle + (to - from) / 2);
  }
}

function draw(results: Result[]): Drawing {
  const drawn = results.filter((result) => lastEnd(result.timeline.ranks ?? []) > 0);
  return {
    panels: drawn.map((result, i) => new TimelinePanel(result, `timeline-${i + 1}`)),
    notices: drawn.length === 0 ? ['No result here holds a timeline.'] : [],
  };
}

const figure: Figure = {
  order: 5,
  id: 'timeline',
  title: 'Timeline of one iteration',
  answers: 'the parts of paper, Fig. 2, rank by rank',
  caption: 'What each rank did in the median iteration: compute in grey, what it waited for in colour.',
  oneAtATime: true,
  draw,
};
export default figure;
