// SPDX-License-Identifier: Apache-2.0
// node report.mjs --modules WEB_FOLDER [--screenshots FOLDER] report.html…
// Opens reports in Chromium as a reader would, by file://, and holds the page to the JSON that it carries.
// --modules: the folder whose node_modules hold playwright-core. CHROMIUM: the browser, else /usr/bin/chromium.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const { values: options, positionals: reports } = parseArgs({
  allowPositionals: true,
  options: { modules: { type: 'string' }, screenshots: { type: 'string' } },
});
assert(options.modules && reports.length > 0, 'usage: report.mjs --modules WEB_FOLDER [--screenshots FOLDER] report.html…');
const browserFile = process.env.CHROMIUM ?? '/usr/bin/chromium';
if (!existsSync(browserFile)) {
  console.log(`skipped: no browser at ${browserFile}; name one in CHROMIUM`);
  process.exit(77);
}
const { chromium } = createRequire(join(resolve(options.modules), 'package.json'))('playwright-core');

const sizes = { desktop: { width: 1280, height: 900 }, phone: { width: 375, height: 740 } };
const quickEnough = 5000; // ms from navigation to a page that can be read; generous, for machines with few cores

function resultsIn(file) {
  const html = readFileSync(file, 'utf8');
  const [, json] = /<script type="application\/json" id="dlnetbench-results">([\s\S]*?)<\/script>/.exec(html) ?? [];
  assert(json, `${file} carries results`);
  return JSON.parse(json);
}

async function open(browser, file, settings) {
  const context = await browser.newContext(settings);
  const seen = { errors: [], requests: [] };
  await context.route('**/*', (route) => {
    const url = route.request().url();
    if (url.startsWith('file:') || url.startsWith('data:') || url.startsWith('blob:')) return route.continue();
    seen.requests.push(url);
    return route.abort();
  });
  const page = await context.newPage();
  page.on('console', (message) => message.type() === 'error' && seen.errors.push(message.text()));
  page.on('pageerror', (error) => seen.errors.push(String(error)));
  page.on('request', (request) => {
    if (!/^(file|data|blob):/.test(request.url())) seen.requests.push(request.url());
  });
  const begin = performance.now();
  await page.goto(pathToFileURL(resolve(file)).href);
  await page.waitForSelector('main h2', { timeout: 30_000 });
  seen.ready = performance.now() - begin;
  return { context, page, seen };
}

// Brings every chart into view, which is when it is drawn.
async function drawAll(page) {
  for (const chart of await page.locator('.chart').all()) {
    await chart.scrollIntoViewIfNeeded();
    await chart.locator('svg').first().waitFor({ timeout: 10_000 });
  }
}

/// Filled shapes that are neither axis nor text; in a path, every "M" starts a rectangle of its own.
const countMarks = (chart) =>
  chart.evaluate((host) =>
    [...host.querySelectorAll('svg path')]
      .filter((path) => !['none', 'transparent'].includes(path.getAttribute('fill')) && path.getAttribute('d'))
      .reduce((sum, path) => sum + (path.getAttribute('d').match(/M/g)?.length ?? 0), 0),
  );

const tests = {
  async 'every figure has marks, or says why not'({ page, results }) {
    await drawAll(page);
    const figures = await page.locator('figure[data-figure]').all();
    assert(figures.length >= 3);
    for (const figure of figures) {
      const name = await figure.getAttribute('data-figure');
      const charts = await figure.locator('.chart').all();
      if (charts.length === 0) assert((await figure.locator('.notice').innerText()).length > 10, name);
      for (const chart of charts) assert((await countMarks(chart)) > 0, `${name} has marks`);
    }
    // As many percentages as results with a communication fraction.
    const labels = await page.locator('#communication-fraction .chart svg text').allTextContents();
    const fractions = results.filter((r) => r.iterations.length > 0 && r.metrics.communication_fraction?.value != null);
    assert(labels.filter((label) => / %$/.test(label)).length >= fractions.length, 'a bar for every result');
  },

  async 'axes carry units'({ page }) {
    await drawAll(page);
    for (const chart of await page.locator('.chart').all()) {
      const texts = await chart.locator('svg text').allTextContents();
      assert(texts.some((text) => /\(.+\)|^ranks$/.test(text)), `units among ${texts.slice(0, 12).join(' | ')}`);
    }
  },

  async 'overview and metrics show the JSON'({ page, results }) {
    const rows = page.locator('table.overview tbody tr');
    assert.equal(await rows.count(), results.length);
    for (const [i, result] of results.entries()) {
      const row = await rows.nth(i).innerText();
      assert(row.includes(result.label), `row ${i} is ${result.label}`);
      assert.equal(row.includes('INVALID'), !result.valid, `INVALID is said in row ${i}`);
      const { message_scale: scale = 1 } = result.spec;
      assert.equal(row.includes('scaled: messages'), scale !== 1, `the scale is said in row ${i}`);
    }
    const [result] = results;
    const section = page.locator('#result-1');
    if (!(await section.evaluate((details) => details.open))) await section.locator('> summary').click();
    await section.locator('tr[data-metric]').first().waitFor({ state: 'attached' });
    for (const [name, metric] of Object.entries(result.metrics)) {
      const cells = await section.locator(`tr[data-metric="${name}"] td`).allInnerTexts();
      assert.equal(cells[2].replaceAll('\u202f', ''), String(metric.count), `${name} has its count`);
      if (metric.value === null) assert.equal(cells[0], '–');
      else if (metric.unit === 's') assert(close(inSeconds(cells[0]), metric.value), `${name}: ${cells[0]} is ${metric.value} s`);
    }
    for (const note of result.notes) assert((await section.locator('.notes').innerText()).includes(note));
    for (const [title, rows] of [['Operations', result.operations], ['Byte ledger', result.ledger]]) {
      if (rows.length === 0) continue;
      const part = section.locator('details.part', { hasText: title });
      await part.locator('> summary').click();
      await part.locator('tbody tr').first().waitFor({ state: 'attached' });
      assert.equal(await part.locator('tbody tr').count(), rows.length, title);
    }
  },

  async 'links say who slowed whom, where and in what, on a phone too'({ page, results }) {
    const i = results.findIndex((result) => result.slowdown?.value > 1.01);
    if (i < 0) return;
    assert(results[i].links.slowed.some((row) => row.by), 'somebody slowed it');
    const { links, slowdown } = results[i];
    const section = page.locator(`#result-${i + 1}`);
    if (!(await section.evaluate((details) => details.open))) await section.locator('> summary').click();
    const part = section.locator('details.part', { hasText: 'Links' });
    await part.locator('> summary').click();
    const table = (caption) => part.locator('table', { has: page.locator('caption', { hasText: caption }) });
    const rows = table('Slowed on full links').locator('tbody tr');
    await rows.first().waitFor({ state: 'attached' });
    assert.equal(await rows.count(), links.slowed.length);
    for (const [row, shown] of links.slowed.entries()) {
      const cells = await rows.nth(row).locator('td').allInnerTexts();
      assert(close(inSeconds(cells[0]), shown.lost), `${cells[0]} is ${shown.lost} s`);
      assert.deepEqual(cells.slice(2), [
        shown.by || 'its own other operations', `${shown.class} ${shown.link}`, shown.operation, shown.phase,
      ]);
    }
    assert.equal(await table('Most loaded links').locator('tbody tr').count(), links.hot.length);
    const heads = await table('Most loaded links').locator('thead').innerText();
    for (const job of links.jobs ?? []) assert(heads.includes(job), `${job} among ${heads}`);
    assert.equal(await table('Classes of links').locator('tbody tr').count(), links.classes.length);
    if (slowdown) assert((await part.innerText()).includes(`Slowdown ${slowdown.value.toFixed(2)} ×`));
    const before = page.viewportSize();
    await page.setViewportSize(sizes.phone);
    await fitsItsWindow(page);
    await page.setViewportSize(before);
  },

  async 'the data of a figure is its JSON'({ page, results }) {
    const events = results.find((result) => result.timeline.ranks?.length)?.timeline.ranks.flatMap((rank) => rank.events);
    if (!events) return;
    const panel = page.locator('#timeline .panel');
    const csv = await download(page, panel.getByRole('button', { name: 'CSV' }));
    const lines = csv.trim().split('\r\n');
    assert.equal(lines.length, 1 + events.length);
    assert.match(lines[0], /begin \[s\]/);
    assert.equal(Number(lines[1].split(',')[2]), events[0].begin);
    const trace = JSON.parse(await download(page, panel.getByRole('button', { name: 'Perfetto' })));
    assert.equal(trace.traceEvents.filter((event) => event.ph === 'X').length, events.length);
  },

  async 'a figure is saved as SVG and PNG'({ page, results }) {
    if (results.every((result) => result.iterations.length === 0)) return;
    const panel = page.locator('#communication-fraction .panel').first();
    const svg = await download(page, panel.getByRole('button', { name: 'SVG' }));
    assert.match(svg, /^<svg [^>]*width="900"/);
    assert(svg.includes('share of the iteration'));
    const mistakes = (text) => new DOMParser().parseFromString(text, 'image/svg+xml').querySelectorAll('parsererror').length;
    assert.equal(await page.evaluate(mistakes, svg), 0, 'the SVG is well-formed');
    const png = await download(page, panel.getByRole('button', { name: 'PNG' }), 'latin1');
    assert(png.startsWith('\x89PNG') && png.length > 5000);
  },

  async 'definitions are one key away'({ page, results }) {
    const name = Object.keys(results[0].metrics).find((each) => results[0].metrics[each].definition);
    const target = page.locator('table.overview .term').first();
    for (let presses = 0; presses < 60; presses++) {
      await page.keyboard.press('Tab');
      if (await target.evaluate((button) => button === document.activeElement)) break;
    }
    assert(await target.evaluate((button) => button === document.activeElement), 'Tab reaches a definition');
    assert(await target.evaluate((button) => getComputedStyle(button).outlineStyle !== 'none'), 'focus can be seen');
    await page.keyboard.press('Enter');
    const shown = await page.locator('p.definition').innerText();
    assert(shown.includes(results.find((r) => r.metrics.iteration_time)?.metrics.iteration_time.definition ?? name));
  },

  async 'the timeline zooms and is walked by keys'({ page, results }) {
    if (!results.some((result) => result.timeline.ranks?.length)) return;
    const chart = page.locator('#timeline .chart');
    await drawAll(page);
    const before = await chart.locator('svg').innerHTML();
    await chart.focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    const readout = page.locator('#timeline output');
    const ranks = results.find((result) => result.timeline.ranks?.length).timeline.ranks;
    const second = ranks[0].events[1] ?? ranks[0].events[0];
    assert((await readout.innerText()).includes(`rank ${ranks[0].rank} `), 'the readout names the rank');
    assert((await readout.innerText()).includes(second.operation), 'the readout names the operation');
    await page.keyboard.press('+');
    await page.waitForTimeout(100);
    assert.notEqual(await chart.locator('svg').innerHTML(), before, 'zooming redraws');
    assert((await countMarks(chart)) > 0);
    await page.keyboard.press('0');
  },
};

const close = (a, b) => Math.abs(a - b) <= 1e-3 * Math.abs(b) + 1e-15;
const inSeconds = (text) => {
  const [value, unit] = text.split(' ');
  return Number(value) * { s: 1, ms: 1e-3, µs: 1e-6, ns: 1e-9 }[unit];
};

async function download(page, button, encoding = 'utf8') {
  // What comes into view is drawn, and moves what a click aims at.
  await button.scrollIntoViewIfNeeded();
  await page.waitForTimeout(500);
  const [saved] = await Promise.all([page.waitForEvent('download'), button.click()]);
  return readFileSync(await saved.path(), encoding);
}

async function fitsItsWindow(page) {
  const { inner, content } = await page.evaluate(() => ({
    inner: document.documentElement.clientWidth,
    content: document.documentElement.scrollWidth,
  }));
  assert(content <= inner, `the page is ${content} px wide in a window of ${inner} px`);
}

async function screenshot(page, file, name) {
  if (!options.screenshots) return;
  mkdirSync(options.screenshots, { recursive: true });
  await page.screenshot({ path: join(options.screenshots, `${basename(file, '.html')}-${name}.png`), fullPage: true });
}

let failures = 0;
async function check(title, body) {
  try {
    await body();
    console.log(`ok    ${title}`);
  } catch (error) {
    failures++;
    console.log(`FAIL  ${title}\n      ${String(error.stack ?? error).split('\n').slice(0, 4).join('\n      ')}`);
  }
}

const browser = await chromium.launch({
  executablePath: browserFile,
  headless: true,
  args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'],
});
try {
  for (const file of reports) {
    const results = resultsIn(file);
    const title = (what) => `${basename(file)}: ${what}`;
    for (const [name, body] of Object.entries(tests)) {
      await check(title(name), async () => {
        const { context, page, seen } = await open(browser, file, { viewport: sizes.desktop });
        try {
          await body({ page, results });
          assert.deepEqual(seen.errors, [], 'no error on the console');
          assert.deepEqual(seen.requests, [], 'nothing is asked of the network');
        } finally {
          await context.close();
        }
      });
    }
    for (const [name, settings] of Object.entries({
      desktop: { viewport: sizes.desktop },
      phone: { viewport: sizes.phone, hasTouch: true, isMobile: true, deviceScaleFactor: 2 },
      dark: { viewport: sizes.desktop, colorScheme: 'dark' },
    })) {
      await check(title(`fits and is quick: ${name}`), async () => {
        const { context, page, seen } = await open(browser, file, settings);
        try {
          assert(seen.ready < quickEnough, `ready after ${Math.round(seen.ready)} ms`);
          await drawAll(page);
          await fitsItsWindow(page);
          for (const summary of await page.locator('#result-1:not([open]) > summary, #result-1 .part > summary').all())
            await summary.click();
          await fitsItsWindow(page);
          await page.evaluate(() => scrollTo(0, 0));
          await screenshot(page, file, name);
          assert.deepEqual(seen.errors, [], 'no error on the console');
        } finally {
          await context.close();
        }
      });
    }
    await check(title('prints light, wide and open'), async () => {
      const { context, page, seen } = await open(browser, file, { viewport: sizes.desktop, colorScheme: 'dark' });
      try {
        await drawAll(page);
        const pdf = await page.pdf({ format: 'A4', ...(options.screenshots ? { path: join(options.screenshots, `${basename(file, '.html')}.pdf`) } : {}) });
        assert(pdf.length > 10_000, 'the print has content');
        assert.deepEqual(seen.errors, [], 'no error on the console');
      } finally {
        await context.close();
      }
    });
  }
} finally {
  await browser.close();
}
console.log(failures === 0 ? 'all passed' : `${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;
