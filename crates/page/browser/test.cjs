// The page in a real browser, from a file: each story is clicked through, each sentence is the plugin's, no request is made, the
// keyboard alone suffices, and 5,000 nodes are measured beside the plugin's own time. `.ci/run page` runs it.
'use strict';
const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const puppeteer = require('puppeteer-core');

const root = path.resolve(__dirname, '../../..');
const html = path.join(root, 'target/web/daemonset.html');
const stories = path.join(root, 'target/web/stories');
const screens = path.join(root, 'target/web/screens');
const plugin = (...args) => {
  try {
    return execFileSync(process.env.PLUGIN || path.join(root, 'target/release/kubectl-daemonset'), args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  } catch (error) {
    // Exit code 1: there is something to look at.
    if (error.status === 1) return error.stdout;
    throw error;
  }
};

let browser;
const outside = [];
const complaints = [];

async function opened(hash = '', file = html) {
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 900 });
  page.on('request', (request) => { if (!/^(file:|blob:|data:)/.test(request.url()) || (/^file:/.test(request.url()) && !request.url().startsWith(`file://${file}`))) outside.push(request.url()); });
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(`file://${file}${hash}`);
  await page.waitForFunction(() => document.documentElement.dataset.ready === 'yes');
  return page;
}

// The page has done all that was asked: no question waits, and nothing has changed for a while.
async function quiet(page) {
  let before;
  for (;;) {
    await new Promise((resolve) => { setTimeout(resolve, 250); });
    const now = await page.evaluate(() => `${document.documentElement.dataset.waiting} ${document.body.innerText}`);
    if (now === before && now.startsWith('0 ')) return;
    before = now;
  }
}

const texts = (page, selector) => page.$$eval(selector, (found) => found.map((it) => it.textContent));

async function nodes(page) {
  await page.$eval('#as-table', (details) => { details.open = true; });
  await quiet(page);
  const names = await texts(page, '#as-table td:nth-child(3)');
  return names.flatMap((it) => it.split(', ')).sort();
}

async function story(name) {
  const file = path.join(stories, `${name}.json`);
  const page = await opened();
  await page.select('#story', name);
  await quiet(page);
  assert.equal(await page.$eval('#problem', (it) => it.hidden), true);

  // The head, the actions and the end of `plan`.
  const plan = plugin('plan', '-f', file);
  const labels = await texts(page, '#head dt');
  const lines = await texts(page, '#head dd');
  for (const [at, line] of lines.entries()) {
    if (labels[at] === 'As of') continue;
    assert.ok(plan.includes(`${labels[at].padEnd(11)}${line}\n`), `${name}: ${labels[at]} ${line}\n${plan}`);
  }
  const actions = (await texts(page, '#actions li')).filter((it) => !it.startsWith('Nothing:'));
  for (const [at, action] of actions.entries()) assert.ok(plan.includes(`${String(at + 1).padStart(3)}. ${action}\n`), `${name}: ${action}`);
  for (const warning of await texts(page, '#warnings li')) assert.ok(plan.includes(`${'Warning'.padEnd(11)}${warning}\n`), `${name}: ${warning}`);
  const next = await page.$eval('#next', (it) => it.textContent);
  assert.ok(plan.includes(next.replace('Next: ', 'Next'.padEnd(11))), `${name}: ${next}`);

  // The causes and commands of `stuck`.
  const stuck = plugin('stuck', '-f', file);
  const answer = JSON.parse(plugin('stuck', '-f', file, '-o', 'json'));
  assert.ok(stuck.startsWith(`${await page.$eval('#headline', (it) => it.textContent)}\n`), name);
  assert.deepEqual(await page.$$eval('.finding', (all) => all.map((it) => it.querySelector('p').lastChild.textContent)),
    (answer.findings || []).map((it) => it.text), name);
  assert.deepEqual(await texts(page, '.finding code'), (answer.findings || []).flatMap((it) => it.commands || []), name);

  // Each sentence of `why`, for each node.
  const all = await nodes(page);
  for (const [at, node] of all.entries()) {
    await page.focus('#cells');
    await page.keyboard.press(at === 0 ? 'Home' : 'ArrowRight');
    await page.keyboard.press('Enter');
    await page.waitForFunction((it) => document.querySelector('#why h3')?.textContent.startsWith(`Node ${it},`), {}, node);
    const why = JSON.parse(plugin('why', `node/${node}`, '-f', file, '-o', 'json')).daemonSets[0];
    assert.deepEqual(await texts(page, '#why .sentence'), why.sentences, `${name}: ${node}`);
    assert.deepEqual(await texts(page, '#why code'), why.commands || [], `${name}: ${node}`);
    assert.ok((await page.$eval('#cell-said', (it) => it.textContent)).startsWith(node), `${name}: ${node}`);
  }
  await page.$eval('#as-table', (details) => { details.open = false; });
  await page.keyboard.press('n');
  await page.keyboard.press('Enter');
  await quiet(page);
  await page.screenshot({ path: path.join(screens, `${name}.png`), fullPage: true });

  // The same from a file, at a later instant.
  await (await page.$('#file')).uploadFile(file);
  await quiet(page);
  const answered = await page.evaluate(() => document.querySelector('#headline').textContent);
  assert.ok(stuck.startsWith(`${answered}\n`), name);
  await page.$eval('#now', (slider) => { slider.value = 600; slider.dispatchEvent(new Event('input')); });
  await quiet(page);
  const now = (await page.$eval('#now-shown', (it) => it.textContent)).split(' ')[0];
  const later = plugin('stuck', '-f', file, '--now', now);
  assert.ok(later.startsWith(`${await page.$eval('#headline', (it) => it.textContent)}\n`), `${name} at ${now}`);
  await page.close();
  console.log(`${name}: ${all.length} nodes, each sentence as the plugin has it`);
}

// From the first key to the answer, without a pointer.
async function keyboard() {
  const page = await opened();
  const focused = () => page.evaluate(() => document.activeElement.id);
  const tabTo = async (id) => {
    for (let step = 0; step < 60; step += 1) {
      if (await focused() === id) return;
      await page.keyboard.press('Tab');
    }
    assert.fail(`no Tab reaches ${id}`);
  };
  await tabTo('story');
  await page.keyboard.type('Stuck');
  await quiet(page);
  await tabTo('cells');
  await page.keyboard.press('n');
  await page.keyboard.press('Enter');
  await quiet(page);
  assert.match(await page.$eval('#why', (it) => it.textContent), /crashes again and again/);
  await page.keyboard.down('Shift');
  await tabTo('tab-fleet');
  await page.keyboard.up('Shift');
  await page.keyboard.press('ArrowRight');
  await quiet(page);
  assert.match((await texts(page, '#rehearsal pre'))[0], /Rollout {4}/);
  await tabTo('slide-maxUnavailable');
  for (let step = 0; step < 5; step += 1) await page.keyboard.press('ArrowRight');
  await quiet(page);
  assert.match((await texts(page, '#rehearsal pre'))[0], /maxUnavailable 10%/);
  await page.screenshot({ path: path.join(screens, 'rehearsal.png'), fullPage: true });
  await page.close();
  console.log('keyboard: a story, a node, a rehearsal');
}

// A policy as one types it, a manifest, and the DaemonSets of a node.
async function policy() {
  const page = await opened();
  await page.select('#story', 'driven');
  await quiet(page);
  await page.click('#tab-policy');
  await quiet(page);
  assert.match(await page.$eval('#policy-text', (it) => it.value), /^# Beside Kubernetes' own controller/);
  assert.match(await page.$eval('#policy-state', (it) => it.textContent), /^It says: driven beside Kubernetes' own controller, maxUnavailable 3; waves 5 \(bake 2m\), 50% \(bake 5m\), all/);
  const found = JSON.parse(plugin('lint', '-f', path.join(stories, 'driven.json'), '-o', 'json'));
  assert.deepEqual(await texts(page, '#policy-findings li'), found.map(({ severity, path: field, why, remedy }) => `${severity} ${field}: ${why} ${remedy}`));
  await page.screenshot({ path: path.join(screens, 'policy.png'), fullPage: true });
  await page.$eval('#policy-text', (it) => { it.value = 'waves: [{upTo: half}]'; it.dispatchEvent(new Event('input')); });
  await quiet(page);
  assert.match(await page.$eval('#policy-state', (it) => it.textContent), /waves\[0\]\.upTo/);

  const stored = JSON.parse(fs.readFileSync(path.join(stories, 'driven.json'), 'utf8')).items.find((it) => it.kind === 'DaemonSet');
  const next = { ...stored, status: undefined };
  next.spec.template.spec.containers[0].image = 'registry.example/agent:3';
  await page.$eval('#manifest-text', (it, text) => { it.value = text; }, JSON.stringify(next));
  await page.click('#manifest-go');
  await quiet(page);
  const file = path.join(stories, '..', 'manifest.json');
  fs.writeFileSync(file, JSON.stringify(next));
  const answer = plugin('would-restart', file, '--from', path.join(stories, 'driven.json')).trim().split('\n');
  assert.ok((await page.$eval('#manifest-judged .headline', (it) => it.textContent)).endsWith(answer[0]), answer[0]);
  assert.deepEqual(await texts(page, '#manifest-judged code'), answer.slice(1));

  await page.click('#on-go');
  await quiet(page);
  assert.deepEqual((await texts(page, '#on-answer td')).slice(0, 2), ['monitoring/agent', 'yes']);
  await page.close();
  console.log('policy: its words, its findings, a manifest, a node');
}

// A link and a filled page show what was there.
async function share() {
  const file = path.join(stories, 'stuck.json');
  const page = await opened();
  await (await page.$('#file')).uploadFile(file);
  await quiet(page);
  await page.$eval('#now', (slider) => { slider.value = 300; slider.dispatchEvent(new Event('input')); });
  await quiet(page);
  const shown = (it) => it.evaluate(() => ['#headline', '#head', '#now-shown', '#stuck'].map((id) => document.querySelector(id).textContent));
  const before = await shown(page);
  await page.click('#tab-share');
  await page.click('#share-go');
  await quiet(page);
  const link = await page.$eval('#share-link', (it) => it.value);
  await page.screenshot({ path: path.join(screens, 'share.png') });
  await page.close();
  const again = await opened(link.slice(link.indexOf('#')));
  await quiet(again);
  assert.deepEqual(await shown(again), before);
  await again.close();
  const filled = path.join(stories, '..', 'filled.html');
  plugin('page', '--page', html, '--to', filled, '-f', file);
  const full = await opened('', filled);
  await quiet(full);
  assert.equal((await shown(full))[0], plugin('stuck', '-f', file).split('\n')[0]);
  await full.close();
  console.log(`share: a link of ${link.length} characters for ${fs.statSync(file).size} bytes, and a filled page`);
}

// Small, and dark.
async function looks() {
  const page = await opened();
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
  await page.setViewport({ width: 390, height: 800 });
  await page.select('#story', 'driven');
  await quiet(page);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it is wider than a small screen');
  await page.screenshot({ path: path.join(screens, 'small-dark.png'), fullPage: true });
  await page.close();
}

// The dead nodes' story with 5,000 nodes, in a file.
function large(number) {
  const list = JSON.parse(fs.readFileSync(path.join(stories, 'dead-nodes.json'), 'utf8'));
  const named = (kind) => list.items.filter((it) => it.kind === kind);
  const others = list.items.filter((it) => it.kind !== 'Node' && it.kind !== 'Pod');
  const podsOf = new Map();
  for (const pod of named('Pod')) podsOf.set(pod.spec.nodeName, [...(podsOf.get(pod.spec.nodeName) || []), pod]);
  const items = [...others];
  const originals = named('Node');
  for (let at = 0; at < number; at += 1) {
    const node = originals[at % originals.length];
    const before = node.metadata.name;
    const name = `node-${String(at).padStart(5, '0')}`;
    items.push(JSON.parse(JSON.stringify(node).replaceAll(`"${before}"`, `"${name}"`)));
    for (const pod of podsOf.get(before) || []) {
      const copy = JSON.parse(JSON.stringify(pod).replaceAll(`"${before}"`, `"${name}"`));
      copy.metadata.name += `-${at}`;
      copy.metadata.uid += `-${at}`;
      items.push(copy);
    }
  }
  const file = path.join(stories, `large-${number}.json`);
  fs.writeFileSync(file, JSON.stringify({ ...list, items }));
  return file;
}

async function speed(number) {
  const file = large(number);
  const page = await opened();
  await (await page.$('#file')).uploadFile(file);
  await page.waitForFunction((it) => document.documentElement.took.drop && document.querySelector('#cells').getAttribute('aria-label').startsWith(`${it} `), {}, number);
  await quiet(page);
  const drop = await page.evaluate(() => document.documentElement.took);
  const steps = await page.evaluate(async () => {
    const slider = document.querySelector('#now');
    const shown = document.querySelector('#head');
    const times = [];
    for (let step = 1; step <= 20; step += 1) {
      const begun = performance.now();
      const drawn = new Promise((resolve) => { new MutationObserver((_, it) => { it.disconnect(); requestAnimationFrame(resolve); }).observe(shown, { childList: true }); });
      slider.value = step * 30;
      slider.dispatchEvent(new Event('input'));
      await drawn;
      times.push(performance.now() - begun);
      await new Promise((resolve) => { setTimeout(resolve, 300); });
    }
    return times.sort((a, b) => a - b);
  });
  await page.screenshot({ path: path.join(screens, 'large.png') });
  await page.close();
  const ms = (value) => `${Math.round(value)} ms`;
  const bytes = fs.statSync(file).size;
  console.log(`${number} nodes, a file of ${(bytes / 1e6).toFixed(1)} MB, ${await browser.version()}: first paint ${ms(drop.paint)} after the drop, `
    + `all of the screen ${ms(drop.drop)}; a step of the slider ${ms(steps[10])} at the median, ${ms(steps.at(-1))} at most; the plan in it ${ms(drop.at)}`);
  console.log(plugin('plan', '-f', file, '--time', '20'));
}

(async () => {
  fs.mkdirSync(screens, { recursive: true });
  browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const names = fs.readdirSync(stories).filter((it) => !it.startsWith('large-')).map((it) => it.replace('.json', ''));
    assert.equal(names.length, 6);
    for (const name of names) await story(name);
    await keyboard();
    await policy();
    await share();
    await looks();
    await speed(5000);
    assert.deepEqual(outside, []);
    assert.deepEqual(complaints, []);
    console.log(`no request, no complaint; look at ${screens}`);
  } finally {
    await browser.close();
  }
})().catch((error) => { console.error(error); process.exitCode = 1; });
