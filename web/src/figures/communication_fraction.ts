// SPDX-License-Identifier: Apache-2.0
import type { EChartsCoreOption } from 'echarts/core';

import { shares, type Shares } from '../data/communication';
import { grouped, variants } from '../data/variants';
import { element } from '../dom';
import type { Drawing, Figure, Panel, View } from '../figure';
import { cautions, machineOf, modelOf, planOf, ranksOf, type Metric, type Result } from '../result';
import { percent, seconds, words } from '../units';

interface Bar {
  result: Result;
  plan: string; // plan, model and variant: equal for neighbours that differ in size only
  parts: Shares;
  fraction: Metric | undefined;
}

const fractionName = 'communication fraction';
const parts = ['transfer', 'straggler_wait', 'pipeline_bubble'] as const;
const rowHeight = 26; // px

// A row of the chart: the plan's name over its bars, or a bar.
type Row = { heading: string } | { bar: Bar };
const barOf = (row: Row | undefined): Bar | undefined => (row && 'bar' in row ? row.bar : undefined);
const rowsOf = (bars: Bar[]): Row[] =>
  [...grouped(bars, (bar) => bar.plan)].flatMap(([heading, same]) => [{ heading }, ...same.map((bar) => ({ bar }))]);

// Texture as well as colour, for print in grey.
const decals: Record<string, unknown> = {
  straggler_wait: { symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: -Math.PI / 4, color: 'rgba(0,0,0,0.35)' },
  pipeline_bubble: { symbol: 'circle', symbolSize: 0.6, dashArrayX: [[5, 5], [0, 5, 5, 0]], dashArrayY: [5, 0], color: 'rgba(0,0,0,0.45)' },
};

const sizeOf = (bar: Bar): string => {
  const n = ranksOf(bar.result);
  return `${n} ${n === 1 ? 'rank' : 'ranks'}${bar.result.valid ? '' : ' (INVALID)'}`;
};

function tooltip(bar: Bar): HTMLElement {
  const line = (name: string, value: string) => element('div', {}, `${name}: ${value}`);
  return element(
    'div',
    { class: 'tip' },
    element('strong', {}, bar.result.label),
    ...parts.map((part) => line(words(part), percent(bar.parts[part]))),
    bar.fraction
      ? line('communication fraction', `${percent(bar.fraction.value)} (${percent(bar.fraction.low)} – ${percent(bar.fraction.high)})`)
      : null,
    line('iteration', seconds(bar.result.metrics['iteration_time']?.value)),
    ...cautions(bar.result).map((caution) => element('div', { class: 'caution' }, caution)),
  );
}

function option(rows: Row[], most: number, { theme, compact }: View): EChartsCoreOption {
  const size = compact ? 11 : 12;
  const legend = [...parts.map((part) => words(part)), fractionName];
  return {
    aria: { enabled: true, decal: { show: false } },
    grid: { left: 8, right: 56, top: compact ? 56 : 34, bottom: 32, containLabel: true },
    legend: { top: 0, left: 0, itemWidth: 16, itemHeight: 10, selectedMode: false, data: legend, textStyle: { color: theme.text, fontSize: size } },
    tooltip: {
      trigger: 'axis',
      axisPointer: { type: 'shadow' },
      confine: true,
      backgroundColor: theme.background,
      borderColor: theme.line,
      textStyle: { color: theme.text },
      formatter: (hit: unknown) => {
        const bar = barOf(rows[(hit as { dataIndex: number }[])[0]?.dataIndex ?? 0]);
        return bar ? tooltip(bar) : '';
      },
    },
    xAxis: {
      type: 'value',
      min: 0,
      max: most,
      name: 'share of the iteration (%)',
      nameLocation: 'middle',
      nameGap: 28,
      nameTextStyle: { color: theme.muted, fontSize: size },
      axisLabel: { color: theme.muted, fontSize: size },
      splitLine: { lineStyle: { color: theme.line } },
    },
    yAxis: {
      type: 'category',
      inverse: true,
      data: rows.map((_, i) => String(i)),
      axisTick: { show: false },
      axisLine: { lineStyle: { color: theme.muted } },
      axisLabel: {
        interval: 0,
        color: theme.text,
        fontSize: size,
        formatter: (index: string) => {
          const bar = barOf(rows[Number(index)]);
          return bar ? sizeOf(bar) : '';
        },
      },
    },
    series: [
      ...parts.map((part) => ({
        type: 'bar',
        name: words(part),
        stack: 'communication',
        emphasis: { disabled: true },
        barMaxWidth: 18,
        itemStyle: { color: theme.cause[part], ...(decals[part] ? { decal: decals[part] } : {}) },
        data: rows.map((row) => (barOf(row)?.parts[part] ?? NaN) * 100),
      })),
      {
        type: 'scatter',
        name: fractionName,
        symbol: 'diamond',
        symbolSize: 11,
        emphasis: { disabled: true },
        z: 5,
        itemStyle: { color: theme.background, borderColor: theme.text, borderWidth: 1.5 },
        label: {
          show: true,
          position: 'right',
          color: theme.text,
          fontSize: size,
          formatter: (point: { value: [number, number] }) => percent(point.value[0] / 100),
        },
        data: rows.flatMap((row, i) => {
          const fraction = barOf(row)?.fraction?.value;
          return typeof fraction === 'number' ? [[fraction * 100, i]] : [];
        }),
      },
      {
        type: 'scatter',
        name: 'plan',
        silent: true,
        symbolSize: 0,
        tooltip: { show: false },
        label: {
          show: true,
          position: 'right',
          distance: 4,
          color: theme.text,
          fontSize: size,
          fontWeight: 'bold',
          formatter: (point: { value: [number, number] }) => {
            const row = rows[point.value[1]];
            return row && 'heading' in row ? shorten(row.heading, compact ? 38 : 90) : '';
          },
        },
        data: rows.flatMap((row, i) => ('heading' in row ? [[0, i]] : [])),
      },
    ],
  };
}

const shorten = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function panel(machine: string, bars: Bar[], most: number, index: number): Panel {
  const rows = rowsOf(bars);
  return {
    title: `Communication fraction on ${machine}`,
    file: `communication-fraction-${index + 1}`,
    height: rows.length * rowHeight + 120,
    option: (view) => option(rows, most, view),
    table: () => ({
      columns: [
        { name: 'result' },
        { name: 'plan' },
        { name: 'model' },
        { name: 'ranks' },
        { name: 'machine' },
        ...parts.map((part) => ({ name: words(part), unit: 'share of iteration' })),
        { name: 'communication fraction' },
        { name: 'lowest' },
        { name: 'highest' },
        { name: 'iterations' },
        { name: 'state' },
      ],
      rows: bars.map(({ result, parts: share, fraction }) => [
        result.label,
        planOf(result),
        modelOf(result),
        ranksOf(result),
        machine,
        ...parts.map((part) => share[part]),
        fraction?.value ?? null,
        fraction?.low ?? null,
        fraction?.high ?? null,
        fraction?.count ?? null,
        cautions(result).join('; ') || 'valid',
      ]),
    }),
  };
}

const family = (bar: Bar): string => `${planOf(bar.result)} · ${modelOf(bar.result)}`;

function draw(results: Result[]): Drawing {
  const variant = variants(results);
  const bars: Bar[] = results.flatMap((result) => {
    const share = shares(result);
    const plan = [planOf(result), modelOf(result), variant.get(result)].filter(Boolean).join(' · ');
    return share ? [{ result, plan, parts: share, fraction: result.metrics['communication_fraction'] }] : [];
  });
  const largest = Math.max(
    ...bars.map(({ parts: p, fraction }) => Math.max(fraction?.value ?? 0, p.transfer + p.straggler_wait + p.pipeline_bubble)),
  );
  // One axis for all machines, so that their bars compare.
  const step = largest > 0.5 ? 20 : 10;
  const most = Math.max(10, Math.ceil((largest * 100) / step) * step);
  const missing = results.length - bars.length;
  return {
    panels: [...grouped(bars, (bar) => machineOf(bar.result))].map(([machine, here], i) => {
      const order = [...grouped(here, family).keys()];
      const sorted = here.toSorted(
        (a, b) =>
          order.indexOf(family(a)) - order.indexOf(family(b)) ||
          (a.plan < b.plan ? -1 : a.plan > b.plan ? 1 : ranksOf(a.result) - ranksOf(b.result)),
      );
      return panel(machine, sorted, most, i);
    }),
    notices: missing > 0 ? [`${missing} of ${results.length} results hold no breakdown of the iteration.`] : [],
  };
}

const figure: Figure = {
  order: 1,
  id: 'communication-fraction',
  title: 'Time spent in communication',
  answers: 'paper, Fig. 2',
  caption:
    'Of the rank with the largest share, as the paper counts. Transfer: data was moving and compute stood still. ' +
    'Straggler wait: from a rank’s own arrival to the last arrival of its group. Pipeline bubble: a receive waited ' +
    'for a sender that had not sent yet. Diamond: the communication fraction, mean over iterations.',
  draw,
};
export default figure;
