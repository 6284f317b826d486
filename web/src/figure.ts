// SPDX-License-Identifier: Apache-2.0
// A figure is one file in figures/ whose default export is a Figure; a new file needs no other edit.
import type { EChartsCoreOption, EChartsType } from 'echarts/core';

import type { Result } from './result';
import type { DataTable } from './table';
import type { Theme } from './theme';

export interface View {
  theme: Theme;
  compact: boolean; // narrow, as on a phone
}

/// One chart with its data.
export interface Panel {
  title: string;
  file: string; // name for saving, without extension
  height: number; // px
  option(view: View): EChartsCoreOption;
  table(): DataTable;
  /// Listeners and controls of a chart that has more than tooltips; called once, when it is first drawn.
  attach?(chart: EChartsType, host: HTMLElement, controls: HTMLElement): void;
  /// More ways to save, beside SVG, PNG and CSV.
  exports?: { name: string; extension: string; type: string; text(): string }[];
}

export interface Drawing {
  panels: Panel[];
  notices: string[]; // what the figure cannot show, and why
}

export interface Figure {
  order: number;
  id: string;
  title: string;
  answers: string; // the figure of the paper that it corresponds to
  caption: string;
  /// One panel at a time, chosen from a list.
  oneAtATime?: boolean;
  draw(results: Result[]): Drawing;
}

const files = import.meta.glob<Figure>('./figures/*.ts', { eager: true, import: 'default' });

export const figures: Figure[] = Object.values(files).sort((a, b) => a.order - b.order);
