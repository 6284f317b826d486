// SPDX-License-Identifier: Apache-2.0
// Colours that stay apart under every common colour vision deficiency.
// M. Okabe, K. Ito, "Color Universal Design", 2008 (https://jfly.uni-koeln.de/color/).

export const okabeIto = {
  blue: '#0072B2',
  vermilion: '#D55E00',
  green: '#009E73',
  orange: '#E69F00',
  purple: '#CC79A7',
  sky: '#56B4E9',
  yellow: '#F0E442',
};

export interface Theme {
  name: 'light' | 'dark';
  background: string;
  text: string;
  muted: string;
  line: string;
  series: string[];
  /// By cause of time, and for compute by phase.
  cause: Record<string, string>;
}

export const light: Theme = {
  name: 'light',
  background: '#ffffff',
  text: '#1b1f24',
  muted: '#57606a',
  line: '#d8dee4',
  series: [okabeIto.blue, okabeIto.vermilion, okabeIto.green, okabeIto.purple, okabeIto.orange, okabeIto.sky, '#1b1f24'],
  cause: {
    compute: '#a3abb3',
    'compute forward': '#cfd5da',
    'compute backward': '#98a1aa',
    transfer: okabeIto.blue,
    straggler_wait: okabeIto.orange,
    pipeline_bubble: okabeIto.purple,
  },
};

export const dark: Theme = {
  name: 'dark',
  background: '#14181d',
  text: '#e8ecf0',
  muted: '#9aa5b1',
  line: '#323a43',
  series: [okabeIto.sky, okabeIto.vermilion, okabeIto.green, okabeIto.purple, okabeIto.orange, okabeIto.yellow, '#e8ecf0'],
  cause: {
    compute: '#66707b',
    'compute forward': '#56606a',
    'compute backward': '#7f8a95',
    transfer: okabeIto.sky,
    straggler_wait: okabeIto.orange,
    pipeline_bubble: okabeIto.purple,
  },
};

const darkPreferred = matchMedia('(prefers-color-scheme: dark)');
const printing = matchMedia('print');

export const theme = (): Theme => (darkPreferred.matches && !printing.matches ? dark : light);

export function onThemeChange(redraw: () => void): void {
  darkPreferred.addEventListener('change', redraw);
  printing.addEventListener('change', redraw);
}
