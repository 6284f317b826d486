// SPDX-License-Identifier: Apache-2.0
import { panelElement } from '../chart';
import { element, identifier } from '../dom';
import { figures, type Figure } from '../figure';
import type { Result } from '../result';

// One panel at a time: the others are not even made until they are chosen.
function chooser(figure: Figure, drawing: ReturnType<Figure['draw']>): HTMLElement[] {
  const made = new Map<number, HTMLElement>();
  const place = element('div', { class: 'panels' });
  const show = (index: number) => {
    const panel = drawing.panels[index];
    if (!panel) return;
    const shown = made.get(index) ?? panelElement(panel);
    made.set(index, shown);
    place.replaceChildren(shown);
  };
  show(0);
  if (drawing.panels.length < 2) return [place];
  const choice = element('select', { id: identifier(figure.id) });
  drawing.panels.forEach((panel, i) => choice.append(element('option', { value: i }, panel.title)));
  choice.addEventListener('change', () => show(Number(choice.value)));
  return [element('p', { class: 'choice' }, element('label', { for: choice.id }, 'Show '), choice), place];
}

function figureElement(figure: Figure, results: Result[]): HTMLElement {
  const drawing = figure.draw(results);
  const panels = figure.oneAtATime
    ? chooser(figure, drawing)
    : [element('div', { class: `panels${drawing.panels.length > 1 ? ' several' : ''}` }, ...drawing.panels.map(panelElement))];
  return element(
    'figure',
    { id: figure.id, 'data-figure': figure.id, 'data-panels': drawing.panels.length },
    element('h3', {}, figure.title, element('span', { class: 'answers' }, figure.answers)),
    element('figcaption', {}, figure.caption),
    ...drawing.notices.map((notice) => element('p', { class: 'notice' }, notice)),
    ...panels,
  );
}

export function drawings(results: Result[]): HTMLElement {
  return element(
    'section',
    { id: 'figures', 'aria-labelledby': 'figures-title' },
    element('h2', { id: 'figures-title' }, 'Figures'),
    ...figures.map((figure) => figureElement(figure, results)),
  );
}
