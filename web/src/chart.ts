// SPDX-License-Identifier: Apache-2.0
// Draws panels: when they come into view, again when the width or the theme changes, wide and light for print.
import { BarChart, CustomChart, LineChart, ScatterChart } from 'echarts/charts';
import { AriaComponent, DataZoomComponent, GridComponent, LegendComponent, TooltipComponent } from 'echarts/components';
import { init, use, type EChartsType } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';

import { button, disclosure, element, identifier } from './dom';
import type { Panel } from './figure';
import { savePng, saveText } from './save';
import { csv, tableElement } from './table';
import { light, onThemeChange, theme, type Theme } from './theme';

use([
  AriaComponent,
  BarChart,
  CustomChart,
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  LineChart,
  ScatterChart,
  SVGRenderer,
  TooltipComponent,
]);

const compactBelow = 560; // px
const savedWidth = 900;
const printedWidth = 690; // A4 less its margins, at 96 px per inch

// Without quotation marks: zrender writes the name into an attribute of the saved SVG as it is.
const fontFamily = 'system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, sans-serif';

interface Zoom {
  start: number;
  end: number;
}

function zoomOf(chart: EChartsType): Zoom | undefined {
  const zooms = chart.getOption()?.dataZoom as Zoom[] | undefined;
  return zooms?.[0] && { start: zooms[0].start, end: zooms[0].end };
}

function setUp(chart: EChartsType, panel: Panel, chosen: Theme, compact: boolean, zoom: Zoom | undefined): void {
  chart.setOption(
    {
      animation: false,
      textStyle: { fontFamily, color: chosen.text },
      ...panel.option({ theme: chosen, compact }),
    },
    { notMerge: true },
  );
  if (zoom) chart.dispatchAction({ type: 'dataZoom', dataZoomIndex: 0, ...zoom });
}

class Drawn {
  private chart: EChartsType | undefined;
  private width = 0;

  constructor(
    private readonly panel: Panel,
    private readonly host: HTMLElement,
    private readonly controls: HTMLElement,
  ) {}

  draw(width = this.host.clientWidth, chosen = theme()): void {
    if (width === 0) return;
    this.width = width;
    const size = { width, height: this.panel.height };
    const zoom = this.chart && zoomOf(this.chart);
    if (this.chart) {
      this.chart.resize(size);
    } else {
      this.chart = init(this.host, null, { renderer: 'svg', ...size });
      this.panel.attach?.(this.chart, this.host, this.controls);
    }
    setUp(this.chart, this.panel, chosen, width < compactBelow, zoom);
  }

  redraw(): void {
    if (this.chart) this.draw();
  }

  fit(): void {
    if (this.chart && this.host.clientWidth !== this.width) this.draw();
  }

  /// The drawing as it stands, on white and at one width, whatever the screen is.
  svg(): string {
    const size = { width: savedWidth, height: this.panel.height };
    const copy = init(null, null, { renderer: 'svg', ssr: true, ...size });
    setUp(copy, this.panel, light, false, this.chart && zoomOf(this.chart));
    copy.setOption({ backgroundColor: light.background });
    const text = copy.renderToSVGString({ useViewBox: true });
    copy.dispose();
    // An image without a size of its own is drawn as 300 × 150 by some programs.
    return text.replace(/^<svg (?![^>]*\bwidth=)/, `<svg width="${size.width}" height="${size.height}" `);
  }
}

const drawn = new Set<Drawn>();
const waiting = new Map<Element, Drawn>();

const coming = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      waiting.get(entry.target)?.draw();
      waiting.delete(entry.target);
      coming.unobserve(entry.target);
    }
  },
  { rootMargin: '400px' },
);
const fitting = new ResizeObserver(() => drawn.forEach((each) => each.fit()));

onThemeChange(() => drawn.forEach((each) => each.redraw()));
addEventListener('beforeprint', () => drawn.forEach((each) => each.draw(printedWidth, light)));
addEventListener('afterprint', () => drawn.forEach((each) => each.draw()));

/// The chart with its title, its ways to be saved, and its data as a table.
export function panelElement(panel: Panel): HTMLElement {
  const title = element('h4', { id: identifier('panel') }, panel.title);
  const host = element('div', {
    class: 'chart',
    role: 'img',
    'aria-labelledby': title.id,
    style: `height: ${panel.height}px`,
  });
  const controls = element('div', { class: 'controls' });
  const each = new Drawn(panel, host, controls);
  drawn.add(each);
  waiting.set(host, each);
  coming.observe(host);
  fitting.observe(host);

  const described = { 'aria-describedby': title.id };
  const saving = element(
    'div',
    { class: 'saving', role: 'group', 'aria-label': 'Save' },
    element('span', { 'aria-hidden': true }, 'Save as'),
    button('SVG', described, () => saveText(`${panel.file}.svg`, 'image/svg+xml', each.svg())),
    button('PNG', described, () => {
      savePng(`${panel.file}.png`, each.svg(), savedWidth, panel.height).catch((error: unknown) => {
        saving.append(element('span', { class: 'caution', role: 'alert' }, `PNG: ${String(error)}`));
      });
    }),
    button('CSV', described, () => saveText(`${panel.file}.csv`, 'text/csv', csv(panel.table()))),
  );
  for (const more of panel.exports ?? [])
    saving.append(
      button(more.name, described, () => saveText(`${panel.file}.${more.extension}`, more.type, more.text())),
    );
  const data = disclosure('Data', { class: 'panel-data' }, () => [tableElement(panel.table(), panel.title)]);
  return element('div', { class: 'panel' }, title, controls, host, element('div', { class: 'below' }, data, saving));
}
