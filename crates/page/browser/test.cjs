// The page in a real browser, from a file: each story is clicked through, each sentence is the plugin's, no request is made, the
// keyboard alone suffices, and 5,000 nodes are measured beside the plugin's own time. `.ci/run page` runs it; with
// names of parts, such as `odd`, only these.
'use strict';
const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const zlib = require('node:zlib');
const puppeteer = require('puppeteer-core');

const root = path.resolve(__dirname, '../../..');
const html = process.env.PAGE || path.join(root, 'target/web/daemonset.html');
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
  const wrong = new Set((answer.findings || []).filter(({ ends }) => ends === 'Somebody').flatMap((it) => it.nodes));
  const legend = (await texts(page, '#legend li')).find((it) => it.endsWith('something is wrong')) || '0';
  assert.ok(parseInt(legend, 10) >= wrong.size && (wrong.size || name !== 'dead-nodes'), `${name}: ${legend}`);
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
  assert.equal((await page.$$('#tales button')).length, 6);
  await page.screenshot({ path: path.join(screens, 'first.png') });
  await tabTo('story');
  await page.keyboard.type('Stuck');
  await quiet(page);
  assert.equal(await page.$eval('#begin', (it) => it.hidden), true);
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
  // The picture's parts.
  await page.focus('.picture');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  assert.match(await page.$eval('#tip', (it) => it.innerText), /^node-\d+\nstate\t.*\n(pods?\t.*\n)?(revision\t.*\n)?(what\t.*\n)?since\t/);
  await page.keyboard.press('Escape');
  assert.equal(await page.$eval('#tip', (it) => it.hidden), true);
  await page.screenshot({ path: path.join(screens, 'rehearsal.png'), fullPage: true });
  await page.close();
  console.log('keyboard: a story, a node, a rehearsal');
}

// Each finding is beside its line, within the reach of keys, and describes the text to those who hear it.
async function margin(page) {
  const type = async (text) => {
    await page.$eval('#policy-text', (it, value) => { it.value = value; it.dispatchEvent(new Event('input')); }, text);
    await quiet(page);
  };
  await type('# Two waves\nwaves:\n- upTo: half\n  bakeSeconds: 5\n\n- uptoo: 5\n');
  assert.equal(await page.$eval('#policy-text-state', (it) => it.textContent), "It can't be used: 2 errors, line 3, line 6.");
  assert.deepEqual(await texts(page, '#policy-text-beside b'), ['Error waves[0].upTo: ', 'Error waves[1].uptoo: ']);
  assert.deepEqual(await texts(page, '.numbers .Error'), ['3', '6']);
  const [number, note] = await page.evaluate(() => ['.numbers .Error', '#policy-text-beside li'].map((name) => document.querySelector(name).getBoundingClientRect().top));
  assert.ok(Math.abs(number - note) < 6, `the first note is ${note - number} pixels below its line`);
  await page.focus('#policy-text');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Line 6');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => { const it = document.activeElement; return it.value.slice(it.selectionStart, it.selectionEnd); }), '- uptoo: 5');
  const heard = await page.$eval('#policy-text', (it) => it.getAttribute('aria-describedby').split(' ').map((id) => document.getElementById(id).textContent));
  assert.match(heard[1], /unknown field `uptoo`/);
  assert.equal(await page.$eval('#policy-text', (it) => it.getAttribute('aria-invalid')), 'true');
  await page.screenshot({ path: path.join(screens, 'margin.png'), fullPage: true });
  // A text that is no YAML.
  await type('waves:\n- upTo: [\n');
  assert.match(await page.$eval('#policy-text-state', (it) => it.textContent), /^It can't be used: 1 error, line [23]\.$/);
}

// A policy as one types it, a manifest, and the DaemonSets of a node.
async function policy() {
  const page = await opened();
  await page.select('#story', 'driven');
  await quiet(page);
  await page.click('#tab-policy');
  await quiet(page);
  assert.match(await page.$eval('#policy-text', (it) => it.value), /^# Beside Kubernetes' own controller/);
  assert.match(await page.$eval('#policy-text-state', (it) => it.textContent), /^It says: driven beside Kubernetes' own controller, maxUnavailable 3; waves 5 \(bake 2m\), 50% \(bake 5m\), all/);
  const found = JSON.parse(plugin('lint', '-f', path.join(stories, 'driven.json'), '-o', 'json'));
  // Those about the DaemonSet itself stand above the text.
  assert.deepEqual(await texts(page, '#policy-text-above .told'), found.map(({ severity, path: field, why, remedy }) => `${severity} ${field}: ${why} ${remedy}`));
  await page.screenshot({ path: path.join(screens, 'policy.png'), fullPage: true });
  await margin(page);
  for (const name of (await texts(page, '#policy-example option')).slice(1)) {
    await page.select('#policy-example', name);
    await quiet(page);
    assert.match(await page.$eval('#policy-text-state', (it) => it.textContent), /^It says: /, name);
  }

  const stored = JSON.parse(fs.readFileSync(path.join(stories, 'driven.json'), 'utf8')).items.find((it) => it.kind === 'DaemonSet');
  const next = { ...stored, status: undefined };
  next.spec.template.spec.containers[0].image = 'registry.example/agent:3';
  await page.$eval('#manifest-text', (it, text) => { it.value = text; }, JSON.stringify(next, null, 2));
  await page.click('#manifest-go');
  await quiet(page);
  const file = path.join(stories, '..', 'manifest.json');
  fs.writeFileSync(file, JSON.stringify(next));
  const answer = plugin('would-restart', file, '--from', path.join(stories, 'driven.json')).trim().split('\n');
  assert.ok((await page.$eval('#manifest-judged .headline', (it) => it.textContent)).endsWith(answer[0]), answer[0]);
  assert.deepEqual(await texts(page, '#manifest-judged code'), answer.slice(1));
  // Beside the line of its field.
  const beside = await page.$$eval('#manifest-text-beside li', (all) => all.map((it) => `${it.querySelector('button').textContent}: ${it.querySelector('b').textContent}`));
  const line = JSON.stringify(next, null, 2).split('\n').findIndex((it) => it.trim().startsWith('"containers"')) + 1;
  // A field that is not there is missing in the one around it.
  const around = JSON.stringify(next, null, 2).split('\n').slice(0, line).findLastIndex((it) => it.trim().startsWith('"spec"')) + 1;
  assert.deepEqual(beside, [`Line ${around}: Advice spec.template.spec.priorityClassName: `, `Line ${line}: Advice spec.template.spec.containers: `]);
  await page.screenshot({ path: path.join(screens, 'manifest.png'), fullPage: true });
  await page.$eval('#manifest-text', (it) => { it.value = 'kind: ['; });
  await page.click('#manifest-go');
  await quiet(page);
  assert.match(await page.$eval('#manifest-text-state.problem', (it) => it.textContent), /line \d/);
  assert.equal((await page.$$('#manifest-judged *, #manifest-text-beside li')).length, 0);

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

// Turns, gates, workloads, and two settings beside each other.
async function rehearsal() {
  const page = await opened();
  await page.select('#story', 'healthy');
  await quiet(page);
  await page.click('#tab-rehearsal');
  await page.$$eval('#rehearsal details', (all) => all.forEach((it) => { it.open = true; }));
  const slide = (name, step) => page.$eval(`#slide-${name}`, (it, value) => { it.value = value; it.dispatchEvent(new Event('input')); }, step);
  const summary = async () => { await quiet(page); return (await texts(page, '#rehearsal pre')).at(-1); };
  await page.$eval('#sim-nodes', (it) => { it.value = 12; it.dispatchEvent(new Event('change')); });
  await page.select('#sim-example', 'Wait for a backup');
  assert.doesNotMatch(await summary(), /complete in/);
  await slide('gatesAfter', 2);
  assert.match(await summary(), /complete in/);
  await page.click('#keep');
  await page.select('#sim-example', 'Drain each node first');
  await slide('workloads', 2);
  await slide('disruptionBudget', 1);
  assert.match(await summary(), /evict/);
  assert.equal((await page.$$('#rehearsal tbody tr')).length, 2);
  assert.deepEqual((await texts(page, '#rehearsal summary')).filter((it) => / set\)$/.test(it)), ['Policy: waves, turns, pulls, in place (2 set)', 'The cluster and its controller (2 set)']);
  // The same words under the pointer, in the picture and in the cells.
  await page.$eval('#played', (it) => it.scrollIntoView());
  await page.hover('#played');
  await page.$eval('#scrub', (it) => { it.value = 300; it.dispatchEvent(new Event('input')); });
  const cell = await (await page.$('#played')).boundingBox();
  await page.mouse.move(cell.x + 5, cell.y + 5);
  assert.match(await page.$eval('#played-said', (it) => it.textContent), /^node-\d+ at \d+/);
  const pictures = await page.$$('.picture');
  await pictures.at(-1).scrollIntoView();
  const box = await pictures.at(-1).boundingBox();
  // In the row of a node, right of its name.
  const row = await pictures.at(-1).evaluate((it) => { const { top, height } = [...it.shadowRoot.querySelectorAll('text')].find((text) => /^node-/.test(text.textContent)).getBoundingClientRect(); return top + height / 2; });
  await page.mouse.move(box.x + box.width / 2, row);
  await quiet(page);
  assert.match(await page.$eval('#tip', (it) => it.innerText), /^node-\d+/);
  await page.screenshot({ path: path.join(screens, 'turns.png') });
  await page.close();
  console.log('rehearsal: a gate, a drain with workloads beside, two settings, words under the pointer');
}

// What people open by mistake, and what others put into a cluster: each has a sentence, nothing runs, and the page goes on.
async function odd() {
  const page = await opened();
  const told = async (name, words) => {
    await quiet(page);
    const [hidden, sentence] = await page.$eval('#problem', (it) => [it.hidden, it.textContent]);
    assert.equal(hidden, false, name);
    assert.match(sentence, words, name);
    assert.doesNotMatch(sentence, /Failed to execute|undefined|\[object|DOMException/, name);
  };
  const open = async (name, bytes) => {
    const file = path.join(stories, '..', name);
    fs.writeFileSync(file, bytes);
    await (await page.$('#file')).uploadFile(file);
  };
  await open('empty.json', '');
  await told('empty', /is empty/);
  const story = fs.readFileSync(path.join(stories, 'stuck.json'), 'utf8');
  await open('dump.json.gz', zlib.gzipSync(story));
  await told('gzip', /is compressed/);
  const list = JSON.parse(story);
  await open('no-pods.json', JSON.stringify({ ...list, items: list.items.filter((it) => it.kind !== 'Pod') }));
  await told('no pods', /no Pod in the List/);
  await open('cut.json', story.slice(0, story.length / 2));
  await told('cut', /line \d+ column/);
  await page.evaluate(() => {
    const event = new Event('drop', { cancelable: true });
    const folder = { name: 'cluster', arrayBuffer: () => Promise.reject(new DOMException('A requested file or directory could not be found')) };
    event.dataTransfer = { files: [folder], getData: () => '' };
    dispatchEvent(event);
  });
  await told('folder', /^cluster can't be read: it may be a folder/);

  // Names of others, everywhere they are shown.
  const name = '<script>window.ran=1</script><img src=x onerror="window.ran=1">';
  await open('script.json', story.replaceAll('"node-26"', JSON.stringify(name)));
  await quiet(page);
  assert.equal(await page.$eval('#problem', (it) => it.hidden), true);
  await page.$eval('#as-table', (it) => { it.open = true; });
  await page.focus('#cells');
  await page.keyboard.press('n');
  await page.keyboard.press('Enter');
  await quiet(page);
  assert.ok((await page.$eval('#why', (it) => it.textContent)).includes(name));
  await page.click('#tab-rehearsal');
  await quiet(page);
  assert.deepEqual(await page.evaluate(() => ['ran' in window, document.querySelectorAll('img, main script').length]), [false, 0]);
  await page.click('#tab-fleet');

  // 30 MB, with annotations as large as an API server takes them. The page itself goes on meanwhile.
  const many = JSON.parse(fs.readFileSync(large(5000), 'utf8'));
  for (const node of many.items.filter((it) => it.kind === 'Node').slice(0, 100)) node.metadata.annotations = { notes: 'x'.repeat(250_000) };
  await page.evaluate(() => {
    let before = performance.now();
    window.longest = 0;
    setInterval(() => { window.longest = Math.max(window.longest, performance.now() - before); before = performance.now(); }, 10);
  });
  await open('large.json', JSON.stringify(many));
  await page.waitForFunction(() => document.querySelector('#cells').getAttribute('aria-label').startsWith('5000 '), { timeout: 120_000 });
  await quiet(page);
  const bytes = fs.statSync(path.join(stories, '..', 'large.json')).size;
  console.log(`a file of ${(bytes / 1e6).toFixed(0)} MB: the page itself waits ${Math.round(await page.evaluate(() => window.longest))} ms at most`);
  await page.close();

  // Links: cut, of another kind, and of an older or a newer page.
  const link = (state) => `#s=${zlib.deflateRawSync(JSON.stringify(state)).toString('base64url')}`;
  const problem = async (hash) => {
    const linked = await opened(hash);
    await quiet(linked);
    const told = await linked.$eval('#problem', (it) => (it.hidden ? '' : it.textContent));
    const shown = await linked.evaluate(() => [document.querySelector('#headline').textContent, document.querySelectorAll('[role=tabpanel]:not([hidden])').length]);
    // Whatever it was, a story opens.
    await linked.select('#story', 'healthy');
    await quiet(linked);
    assert.match(await linked.$eval('#headline', (it) => it.textContent), /complete/);
    await linked.close();
    return [told, ...shown];
  };
  const whole = link({ view: 'fleet', now: 0, text: story });
  for (const hash of [whole.slice(0, whole.length / 2), '#s=', '#s=%%%', '#s=AAAA', link(null), link([1])]) assert.match((await problem(hash))[0], /^The link is damaged/, hash.slice(0, 40));
  assert.match((await problem(link({ story: 'gone' })))[0], /no story is named gone/);
  assert.match((await problem(link({ story: 'stuck', node: 'gone' })))[0], /no node is named gone/);
  const newer = await problem(link({ story: 'stuck', view: 'graph', now: 'tomorrow', daemonSet: 'monitoring/agent', colour: 'blue' }));
  assert.equal(newer[0], '');
  assert.match(newer[1], /stuck/);
  assert.equal(newer[2], 1);
  console.log('odd input: each has its sentence');
}

// A file with two DaemonSets: `agent` and `other`, which steers; each node's pod becomes available at another second.
function pair(change = () => {}) {
  const list = JSON.parse(fs.readFileSync(path.join(stories, 'healthy.json'), 'utf8'));
  const items = list.items.flatMap((it) => {
    if (it.kind === 'Node') return [it];
    const text = JSON.stringify(it).replaceAll('"agent', '"other').replaceAll('00000000-0000', '00000000-1111');
    return [it, JSON.parse(text)];
  });
  const other = items.find((it) => it.kind === 'DaemonSet' && it.metadata.name === 'other');
  other.metadata.annotations = { ...other.metadata.annotations, 'rollout.daemonset/policy': 'waves: [{upTo: 10%}, {}]' };
  items.filter((it) => it.kind === 'DaemonSet').forEach((it) => { it.spec.minReadySeconds = 600; });
  items.filter((it) => it.kind === 'Pod').forEach((it, at) => {
    for (const condition of it.status.conditions) condition.lastTransitionTime = `2026-01-01T09:${20 + Math.floor(at / 60)}:${String(at % 60).padStart(2, '0')}Z`;
  });
  change(items, other);
  const file = path.join(stories, '..', 'pair.json');
  fs.writeFileSync(file, JSON.stringify({ ...list, items }));
  return file;
}

// Another cluster, or another of its DaemonSets: nothing of the one before is left, whatever was asked meanwhile.
async function another() {
  const page = await opened();
  const open = async (file) => { await (await page.$('#file')).uploadFile(file); };
  const text = (selector) => page.$eval(selector, (it) => it.textContent);
  await open(pair());
  await quiet(page);
  assert.equal(await page.$eval('#daemonset', (it) => it.value), 'monitoring/agent');

  // More instants than are looked for at once.
  const slide = (seconds) => page.$eval('#now', (it, value) => { it.value = value; it.dispatchEvent(new Event('input')); }, seconds);
  let steps = 0;
  for (; steps < 100 && !(await page.$eval('#now-next', (it) => it.disabled)); steps += 1) {
    await page.click('#now-next');
    await quiet(page);
  }
  assert.match(await text('#instant'), /Time alone changes nothing more/);
  const later = await text('#now-shown');
  assert.equal(plugin('plan', '-f', path.join(stories, '..', 'pair.json'), '--daemonset', 'monitoring/agent', '--now', later.split(' ')[0]).match(/^Next.*/m)[0].includes(' in '), false, `${later}, after ${steps} steps`);
  assert.ok(steps > 24, `${steps} steps`);

  // Another DaemonSet, while the slider is on its way.
  await page.click('#now-reset');
  await page.select('#daemonset', 'monitoring/other');
  await quiet(page);
  const shown = () => page.evaluate(() => ['#headline', '#instant', '#now-shown', '#head', '#next'].map((id) => document.querySelector(id).textContent));
  const plain = await shown();
  await page.select('#daemonset', 'monitoring/agent');
  await quiet(page);
  await page.evaluate(() => {
    const now = document.querySelector('#now');
    for (const value of [300, 450]) { now.value = value; now.dispatchEvent(new Event('input')); }
    const list = document.querySelector('#daemonset');
    list.value = 'monitoring/other';
    list.dispatchEvent(new Event('change'));
  });
  await quiet(page);
  assert.deepEqual(await shown(), plain);

  // The policy, and the command that copies it.
  await page.click('#tab-policy');
  await quiet(page);
  assert.equal(await page.$eval('#policy-text', (it) => it.value), 'waves: [{upTo: 10%}, {}]');
  await page.select('#daemonset', 'monitoring/agent');
  await quiet(page);
  assert.equal(await page.$eval('#policy-text', (it) => it.value), '');
  await page.select('#daemonset', 'monitoring/other');
  await quiet(page);
  await open(pair((items, other) => { other.metadata.annotations['rollout.daemonset/policy'] = 'inPlace: IfPossible'; }));
  await quiet(page);
  await page.select('#daemonset', 'monitoring/other');
  await quiet(page);
  assert.equal(await page.$eval('#policy-text', (it) => it.value), 'inPlace: IfPossible');

  // One that can't be planned.
  await page.click('#tab-fleet');
  await page.focus('#cells');
  await page.keyboard.press('End');
  await open(pair((items, other) => { other.spec.selector = { matchLabels: { app: 'another' } }; }));
  await quiet(page);
  assert.equal(await text('#cell-said'), '');
  await page.select('#daemonset', 'monitoring/other');
  await quiet(page);
  assert.match(await text('#problem'), /must match spec.selector/);
  assert.deepEqual(await page.evaluate(() => ['#headline', '#head', '#stuck', '#actions', '#why', '#cell-said'].map((id) => document.querySelector(id).textContent).join('')), '');
  await page.select('#daemonset', 'monitoring/agent');
  await quiet(page);
  assert.equal(await page.$eval('#problem', (it) => it.hidden), true);

  // A file that can't be read leaves the story, and its link.
  await page.select('#story', 'driven');
  await quiet(page);
  await open(path.join(stories, '..', 'empty.json'));
  await quiet(page);
  await page.click('#tab-share');
  await page.click('#share-go');
  await quiet(page);
  const state = async () => JSON.parse(zlib.inflateRawSync(Buffer.from((await page.$eval('#share-link', (it) => it.value)).split('#s=')[1], 'base64url')));
  assert.equal((await state()).story, 'driven');

  // A link of another view; and what is printed is that view.
  await page.click('#tab-rehearsal');
  await quiet(page);
  await page.click('#tab-share');
  await page.click('#share-go');
  await quiet(page);
  assert.equal((await state()).view, 'rehearsal');
  await page.evaluate(() => { window.print = () => { window.printed = [...document.querySelectorAll('[role=tabpanel]:not([hidden])')].map((it) => it.id); }; });
  await page.$$eval('#share button', (all) => all.find((it) => it.textContent === 'Print').click());
  await page.waitForFunction(() => window.printed);
  assert.deepEqual(await page.evaluate(() => window.printed), ['rehearsal']);
  const link = (await page.$eval('#share-link', (it) => it.value)).replace(/.*#/, '#');
  await page.close();
  const filled = path.join(stories, '..', 'filled.html');
  plugin('page', '--page', html, '--to', filled, '-f', path.join(stories, 'stuck.json'));
  const linked = await opened(link, filled);
  await quiet(linked);
  assert.equal((await linked.$$('#rehearsal .picture')).length, 1);
  // The cluster of the link, and not the one of the page.
  assert.equal(await linked.$eval('#story', (it) => it.value), 'driven');
  await linked.close();

  // An instant that no clock has.
  const far = await opened(`#s=${zlib.deflateRawSync(JSON.stringify({ story: 'healthy', now: 1e300 })).toString('base64url')}`);
  await quiet(far);
  assert.equal(await far.$eval('#problem', (it) => it.hidden), true);
  await far.close();

  // A browser that does not run the planner.
  const without = await browser.newPage();
  await without.evaluateOnNewDocument(() => { window.Worker = class { constructor() { setTimeout(() => this.onerror?.(new Event('error')), 50); } postMessage() {} }; });
  await without.goto(`file://${html}`);
  await without.waitForFunction(() => !document.querySelector('#problem').hidden, { timeout: 5000 });
  await (await without.$('#file')).uploadFile(path.join(stories, 'stuck.json'));
  await new Promise((resolve) => { setTimeout(resolve, 300); });
  assert.match(await without.$eval('#problem', (it) => it.textContent), /does not run the planner/);
  await without.close();
  console.log('another cluster, DaemonSet or view: nothing is left of the one before');
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
    const parts = { stories: async () => { for (const name of names) await story(name); }, keyboard, policy, rehearsal, odd, another, share, looks, speed: () => speed(5000) };
    const asked = process.argv.slice(2);
    for (const [name, part] of Object.entries(parts)) if (!asked.length || asked.includes(name)) await part();
    assert.deepEqual(outside, []);
    assert.deepEqual(complaints, []);
    console.log(`no request, no complaint; look at ${screens}`);
  } finally {
    await browser.close();
  }
})().catch((error) => { console.error(error); process.exitCode = 1; });
