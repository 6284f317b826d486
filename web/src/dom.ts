// SPDX-License-Identifier: Apache-2.0
// Elements from values. Text becomes text nodes: nothing that a result says is ever read as markup.

type Child = Node | string | null | undefined;
type Attributes = Record<string, string | number | boolean | undefined>;

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    made.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined) made.append(child);
  return made;
}

export function button(text: string, attributes: Attributes, press: (made: HTMLButtonElement) => void): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, text);
  made.addEventListener('click', () => press(made));
  return made;
}

/// A disclosure whose content is made when it is first opened.
export function disclosure(
  summary: Child | Child[],
  attributes: Attributes,
  content: () => Child[],
): HTMLDetailsElement {
  const heading = element('summary', {}, ...(Array.isArray(summary) ? summary : [summary]));
  const made = element('details', attributes, heading);
  const fill = () => {
    if (!made.open || made.childElementCount > 1) return;
    for (const child of content()) if (child !== null && child !== undefined) made.append(child);
  };
  made.addEventListener('toggle', fill);
  fill();
  return made;
}

let identifiers = 0;
export const identifier = (prefix: string): string => `${prefix}-${++identifiers}`;
