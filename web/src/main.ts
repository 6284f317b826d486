// SPDX-License-Identifier: Apache-2.0
import './style.css';

import { element } from './dom';
import { readResults, type Result } from './result';
import { definitions } from './sections/definitions';
import { details } from './sections/details';
import { drawings } from './sections/drawings';
import { anchor, overview } from './sections/overview';
import { provenance } from './sections/provenance';

const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

function header(results: Result[]): HTMLElement {
  const measured = results.filter((result) => result.kind === 'run').length;
  const invalid = results.filter((result) => !result.valid).length;
  const first = anchor(results.findIndex((result) => !result.valid));
  const kinds = [
    measured > 0 ? `${measured} measured` : '',
    measured < results.length ? `${results.length - measured} simulated` : '',
  ];
  const links = ['Overview', 'Figures', 'Results', 'Definitions', 'Provenance'];
  return element(
    'header',
    {},
    element('p', { class: 'brand' }, 'DLNetBench'),
    element('h1', {}, results.length === 1 ? results[0]!.label : 'Report'),
    element('p', { class: 'lead' }, `${counted(results.length, 'result')}: ${kinds.filter(Boolean).join(', ')}`),
    invalid > 0
      ? element(
          'p',
          { class: 'alarm', role: 'alert' },
          `${counted(invalid, 'result is', 'results are')} INVALID. `,
          element('a', { href: `#${first}` }, invalid === 1 ? 'See why' : 'See why, for the first'),
        )
      : null,
    element(
      'nav',
      { 'aria-label': 'Sections' },
      ...links.map((name) => element('a', { href: `#${name.toLowerCase()}` }, name)),
    ),
  );
}

// A link into a closed disclosure opens it.
function openTarget(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!(target instanceof HTMLDetailsElement)) return;
  target.open = true;
  target.scrollIntoView();
}

// Paper cannot be pressed: everything but the charts' data is printed open.
function openForPrint(): void {
  const opened: HTMLDetailsElement[] = [];
  addEventListener('beforeprint', () => {
    for (const closed of document.querySelectorAll<HTMLDetailsElement>('details:not([open]):not(.panel-data)')) {
      closed.open = true;
      closed.dispatchEvent(new Event('toggle')); // the browser's own comes too late for this print
      opened.push(closed);
    }
  });
  addEventListener('afterprint', () => opened.splice(0).forEach((each) => (each.open = false)));
}

const page = document.getElementById('page')!;
const results = readResults(document);
if (results.length === 0) {
  page.replaceChildren(element('main', { id: 'main' }, element('p', {}, 'This page holds no results.')));
} else {
  document.title = results.length === 1 ? `${results[0]!.label} · DLNetBench` : `${counted(results.length, 'result')} · DLNetBench`;
  page.replaceChildren(
    header(results),
    element(
      'main',
      { id: 'main' },
      overview(results),
      drawings(results),
      details(results),
      definitions(results),
      provenance(results),
    ),
  );
  openForPrint();
  addEventListener('hashchange', openTarget);
  openTarget();
}
