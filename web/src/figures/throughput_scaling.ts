// SPDX-License-Identifier: Apache-2.0
import type { EChartsCoreOption } from 'echarts/core';

import { scaling, type ScalingGroup, type ScalingPoint } from '../data/scaling';
import { element } from '../dom';
import type { Drawing, Figure, Panel, View } from '../figure';
import type { Result } from '../result';
import { percent, significant } from '../units';

const symbols = ['circle', 'rect', 'triangle', 'diamond', 'pin', 'roundRect', 'arrow'];
const dashes = ['solid', 'dashed', 'dotted'];

type Measure = 'throughput' | 'efficiency';

function axes(group: ScalingGroup, measure: Measure, { theme, compact }: View) {
  const size = compact ? 11 : 12;
  const shared = {
    nameLocation: 'middle',
    nameTextStyle: { color: theme.muted, fontSize: size },
    axisLine: { show: true, lineStyle: { color: theme.muted } },
    splitLine: { lineStyle: { color: theme.line } },
  };
  const ranks = group.series.flatMap((series) => series.points.map((point) => point.ranks));
  return {
    xAxis: {
      ...shared,
      type: 'log',
      logBase: 2,
      name: 'ranks',
      nameGap: 28,
      min: Math.min(...ranks),
      max: Math.max(...ranks),
      axisLabel: { color: theme.muted, fontSize: size, hideOverlap: true },
    },
    yAxis: {
      ...shared,
      nameGap: 46,
      ...(measure === 'throughput'
        ? { type: 'log', logBase: 2, name: `throughput (${group.unit})` }
        : { type: 'value', name: 'parallel efficiency (%)', min: 0 }),
      axisLabel: { color: theme.muted, fontSize: size, formatter: (value: number) => significant(value, 3) },
    },
  };
}

// Smallest to largest sample, as a vertical line with caps.
const whisker = (params: unknown, api: WhiskerApi, colour: string) => {
  void params;
  const [x, low] = api.coord([api.value(0), api.value(1)]);
  const [, high] = api.coord([api.value(0), api.value(2)]);
  const line = (x1: number, y1: number, x2: number, y2: number) => ({
    type: 'line', shape: { x1, y1, x2, y2 }, style: { stroke: colour, lineWidth: 1.5 },
  });
  return { type: 'group', children: [line(x, low, x, high), line(x - 4, low, x + 4, low), line(x - 4, high, x + 4, high)] };
};
interface WhiskerApi {
  value(dimension: number): number;
  coord(value: number[]): [number, number];
}

function tooltip(name: string, point: ScalingPoint, unit: string): HTMLElement {
  return element(
    'div',
    { class: 'tip' },
    element('strong', {}, name),
    element('div', {}, `${point.ranks} ranks: ${significant(point.throughput)} ${unit}`),
    element('div', {}, `iterations from ${significant(point.low)} to ${significant(point.high)} ${unit}`),
    element('div', {}, `ideal ${significant(point.ideal)} ${unit}, efficiency ${percent(point.efficiency)}`),
    point.valid ? null : element('div', { class: 'caution' }, 'INVALID'),
  );
}

function option(group: ScalingGroup, measure: Measure, view: View): EChartsCoreOption {
  const { theme, compact } = view;
  const colour = (i: number) => theme.series[i % theme.series.length]!;
  const dots = (value: (point: ScalingPoint) => number) =>
    group.series.map((series, i) => ({
      type: 'line',
      name: series.name,
      symbol: symbols[i % symbols.length],
      symbolSize: 9,
      lineStyle: { color: colour(i), width: 2, type: dashes[Math.floor(i / theme.series.length) % dashes.length] },
      itemStyle: { color: colour(i) },
      data: series.points.map((point) => ({
        value: [point.ranks, value(point)],
        ...(point.valid ? {} : { itemStyle: { color: theme.background, borderColor: colour(i), borderWidth: 2 } }),
      })),
    }));
  const ideal = {
    lineStyle: { color: theme.muted, width: 1.5, type: 'dotted' },
    itemStyle: { color: theme.muted },
    symbol: 'none',
    silent: true,
  };
  const throughput = [
    ...dots((point) => point.throughput),
    ...group.series.map((series, i) => ({
      ...ideal,
      lineStyle: { ...ideal.lineStyle, color: colour(i) },
      type: 'line',
      name: 'ideal',
      data: series.points.map((point) => [point.ranks, point.ideal]),
    })),
    ...group.series.map((series, i) => ({
      type: 'custom',
      silent: true,
      name: series.name,
      renderItem: (params: unknown, api: WhiskerApi) => whisker(params, api, colour(i)),
      data: series.points.filter((p) => p.low < p.high && p.low > 0).map((p) => [p.ranks, p.low, p.high]),
      encode: { x: 0, y: [1, 2] },
      z: 1,
    })),
  ];
  const sizes = group.series.flatMap((series) => series.points.map((point) => point.ranks));
  const efficiency = [
    ...dots((point) => point.efficiency * 100),
    {
      ...ideal,
      type: 'line',
      name: 'ideal',
      data: [[Math.min(...sizes), 100], [Math.max(...sizes), 100]],
    },
  ];
  return {
    aria: { enabled: true, decal: { show: false } },
    grid: { left: 64, right: 24, top: 16, bottom: 52 + legendHeight(group) },
    legend: {
      bottom: 0,
      left: 0,
      itemWidth: 28,
      itemGap: 7,
      orient: 'vertical',
      data: [
        ...group.series.map((series) => series.name),
        { name: 'ideal', lineStyle: { color: theme.muted }, itemStyle: { opacity: 0 } },
      ],
      textStyle: { color: theme.text, fontSize: compact ? 11 : 12, width: compact ? 260 : 380, overflow: 'truncate' },
    },
    tooltip: {
      trigger: 'item',
      confine: true,
      backgroundColor: theme.background,
      borderColor: theme.line,
      textStyle: { color: theme.text },
      formatter: (hit: unknown) => {
        const { seriesIndex, dataIndex } = hit as { seriesIndex: number; dataIndex: number };
        const series = group.series[seriesIndex];
        const point = series?.points[dataIndex];
        return series && point ? tooltip(series.name, point, group.unit) : '';
      },
    },
    ...axes(group, measure, view),
    series: measure === 'throughput' ? throughput : efficiency,
  };
}

const legendHeight = (group: ScalingGroup): number => (group.series.length + 1) * 21;

function panel(group: ScalingGroup, measure: Measure, index: number): Panel {
  const of = `${group.plan}, ${group.model}`;
  return {
    title: measure === 'throughput' ? `Throughput of ${of}` : `Parallel efficiency of ${of}`,
    file: `${measure}-scaling-${index + 1}`,
    height: 330 + legendHeight(group),
    option: (view) => option(group, measure, view),
    table: () => ({
      columns: [
        { name: 'plan' },
        { name: 'model' },
        { name: 'machine' },
        { name: 'ranks' },
        { name: 'throughput', unit: group.unit },
        { name: 'lowest', unit: group.unit },
        { name: 'highest', unit: group.unit },
        { name: 'ideal', unit: group.unit },
        { name: 'parallel efficiency', unit: '%' },
        { name: 'state' },
      ],
      rows: group.series.flatMap((series) =>
        series.points.map((p) => [
          group.plan, group.model, series.name, p.ranks, p.throughput, p.low, p.high, p.ideal, p.efficiency * 100,
          p.valid ? 'valid' : 'INVALID',
        ]),
      ),
    }),
  };
}

function draw(results: Result[]): Drawing {
  const groups = scaling(results);
  const sized = groups
    .map((group) => ({ ...group, series: group.series.filter((series) => series.points.length > 1) }))
    .filter((group) => group.series.length > 0);
  const alone = groups.flatMap((group) =>
    group.series
      .filter((series) => series.points.length === 1)
      .map((series) => `${group.plan}, ${group.model} on ${series.name}`),
  );
  const silent = results.length - groups.flatMap((g) => g.series.flatMap((series) => series.points)).length;
  const listed = alone.slice(0, 8).join('; ') + (alone.length > 8 ? `; and ${alone.length - 8} more` : '');
  return {
    panels: sized.flatMap((group, i) => [panel(group, 'throughput', i), panel(group, 'efficiency', i)]),
    notices: [
      ...(alone.length > 0 ? [`Not drawn, for there is one size only and nothing to scale from: ${listed}.`] : []),
      ...(silent > 0 ? [`${silent} of ${results.length} results hold no throughput.`] : []),
    ],
  };
}

const figure: Figure = {
  order: 2,
  id: 'throughput-scaling',
  title: 'Throughput scaling and parallel efficiency',
  answers: 'paper, Fig. 3',
  caption:
    'Throughput against ranks, both axes logarithmic; whiskers span the iterations, hollow points are INVALID. The ' +
    'ideal line multiplies the smallest run’s throughput by the ratio of ranks; parallel efficiency is the measured ' +
    'part of it.',
  draw,
};
export default figure;
