// The rollout of a next version: sliders, the simulation, and its picture, which plays.
import { attempt, byId, element, picture, save } from './dom.js';
import { ask, latest } from './planner.js';
import { examples } from './examples.js';
import { explain } from './hover.js';

const LIMITS = ['', '1', '2', '3', '5', '10%', '20%', '30%', '50%', '100%'];
const RATES = ['0%', '1%', '5%', '10%', '20%', '50%'];
const NODES = ['0%', '1%', '5%', '10%', '50%', '100%'];
const LATER = ['', '10s', '1m', '2m', '5m', '10m', '30m', '1h'];
// A name, words, and the steps of a slider, as the plugin's `simulate` reads them; with two steps a box to tick. The first step is
// the default.
const GROUPS = {
  Limits: [
    ['type', 'Update strategy', ['', 'RollingUpdate', 'OnDelete', 'SurgingRollingUpdate']],
    ['maxUnavailable', 'maxUnavailable', LIMITS],
    ['maxSurge', 'maxSurge', LIMITS],
    ['minReadySeconds', 'minReadySeconds', ['', '0', '5', '10', '30', '60', '120', '300']],
  ],
  'Policy: waves, turns, pulls, in place': [
    ['gatesAfter', 'Gates are open after', LATER, 'never'],
    ['approveAfter', 'Waves are approved after', LATER, 'never'],
    ['pauseAt', 'Somebody pauses after', LATER, 'never'],
    ['resumeAt', 'Somebody lets it go on after', LATER, 'never'],
    ['parallel', 'Images are pulled ahead on', LIMITS],
    ['inPlace', 'Images change in place', ['', 'IfPossible']],
  ],
  'How fast things are': [
    ['startup', 'From start to Ready', ['', '1s', '2s,p99=5s', '10s,p99=1m', '30s,p99=3m', '1m,p99=10m'], '5s,p99=15s'],
    ['pull', 'Pulling the image', ['', '1s', '15s,p99=1m', '1m,p99=5m'], '4s,p99=25s'],
    ['stop', 'From deletion to the end', ['', '5s', '30s', '1m,p99=5m'], '1s,p99=8s'],
  ],
  'Things that go wrong': [
    ['failureRate', 'A start crashes', RATES],
    ['crashLoops', 'Nodes where it crashes each time', NODES],
    ['pullFails', 'Nodes that lack the image', NODES],
    ['broken', 'Nodes where it is never Ready', NODES],
    ['lifetime', 'It crashes after having been Ready for', ['', '30s', '2m', '10m', '1h'], 'never'],
    ['evicted', 'A new pod is evicted', RATES],
    ['panicsNode', 'A start takes its node down', RATES],
  ],
  'The cluster and its controller': [
    ['lag', 'The controller sees changes after', ['', '1ms', '1s', '5s', '30s'], '5ms..100ms'],
    ['crash', 'The controller crashes before an action', ['0%', '1%', '5%', '20%']],
    ['churn', 'A node comes, goes or fails every', ['', '10m', '5m', '2m', '1m'], 'never'],
    ['workloads', 'Workloads beside, on each node', ['0', '1', '2', '5', '10']],
    ['disruptionBudget', 'Evictions may take of each at a time', ['', '1', '2', '5'], 'all'],
    ['absenceTaint', 'A node without its pod has a taint', ['', 'agent-not-ready']],
    ['asIs', 'No new version: go on from where it is', [false, true]],
  ],
};
const OF_SETTING = new Set(['type', 'maxUnavailable', 'maxSurge', 'minReadySeconds', 'parallel', 'inPlace']);
const SPEEDS = 12;

const place = byId('rehearsal');
const inputs = {};
const counts = [];

function control([name, label, steps, byDefault = 'as it is']) {
  const id = `slide-${name}`;
  const isBox = steps.length === 2;
  const shown = isBox ? null : element('output', {});
  const input = isBox ? element('input', { type: 'checkbox', id }) : element('input', { type: 'range', min: 0, max: steps.length - 1, step: 1, value: 0, id });
  inputs[name] = { input, steps, shown, byDefault };
  input.addEventListener('input', () => { tell(name); run(); });
  return element('label', {}, ...(isBox ? [element('span', {}, input, ` ${label}`)] : [label, shown, input]));
}

// Sliders that somebody has moved are counted, since a closed group hides them.
function group([title, controls], ...more) {
  const count = element('span', { className: 'muted' });
  counts.push(() => {
    const moved = controls.filter(([name]) => value(name) !== inputs[name].steps[0]).length + (more.length && policy.value.trim() ? 1 : 0);
    count.textContent = moved ? ` (${moved} set)` : '';
  });
  return element('details', { open: title === 'Limits' }, element('summary', {}, title, count), ...more, element('div', { className: 'form' }, ...controls.map(control)));
}

const seed = element('input', { type: 'number', min: 0, max: 1e9, value: 1, id: 'seed' });
const nodes = element('input', { type: 'number', min: 1, max: 5000, placeholder: 'all', id: 'sim-nodes' });
const policy = element('textarea', { rows: 8, id: 'sim-policy', className: 'code', wrap: 'off', spellcheck: false, ariaLabel: 'A policy to try', placeholder: 'A policy to try. Empty: the policy of the DaemonSet itself' });
const downtime = element('input', { type: 'checkbox', id: 'by-downtime' });
for (const input of [seed, nodes, policy, downtime]) input.addEventListener('change', () => { retell(); run(); });
const tried = examples('sim-example', (text) => { policy.value = text; retell(); run(); });
const keep = element('button', { type: 'button', id: 'keep' }, 'Keep beside the next');
const drop = element('button', { type: 'button', id: 'drop-kept', hidden: true }, 'Only this one');
const compared = element('label', { hidden: true }, downtime, ' by the time that nodes are down');
const play = element('button', { type: 'button', id: 'play' }, 'Play');
const scrub = element('input', { type: 'range', min: 0, max: 1000, value: 1000, id: 'scrub', ariaLabel: 'The time of the rollout' });
const at = element('output', { id: 'scrub-shown' });
const canvas = element('canvas', { id: 'played', role: 'img', ariaLabel: 'The nodes at the time of the slider' });
const said = element('p', { className: 'said', id: 'played-said' });
const busy = element('p', { className: 'muted', role: 'status', id: 'sim-busy' });
const pictures = element('div', {});
place.append(
  element('p', {}, 'A simulation of the next version on this cluster: the same planner, with kubelets, caches and crashes of its own.'),
  ...Object.entries(GROUPS).map((entry) => (entry[0].startsWith('Policy') ? group(entry, element('div', { className: 'bar' }, tried), policy) : group(entry))),
  element('div', { className: 'bar' }, element('label', {}, 'Seed (the same seed, the same luck) ', seed), element('label', {}, 'Nodes ', nodes), keep, drop, compared),
  element('div', { className: 'time' }, play, scrub, at), busy, canvas, said, pictures,
);
const retell = () => counts.forEach((count) => count());

let kept = null;
let answer = null;
let timer = null;

const value = (name) => {
  const { input, steps } = inputs[name];
  return steps[input.type === 'checkbox' ? Number(input.checked) : input.value];
};

function tell(name) {
  const { shown, input, byDefault } = inputs[name];
  retell();
  if (!shown) return;
  shown.textContent = value(name) || byDefault;
  input.setAttribute('aria-valuetext', shown.textContent);
}

function setting() {
  const asked = Object.fromEntries([...OF_SETTING].map((name) => [name, value(name)]));
  if (policy.value.trim()) asked.policy = policy.value;
  return asked;
}

function question() {
  const asked = Object.fromEntries(Object.keys(inputs).filter((name) => !OF_SETTING.has(name)).map((name) => [name, value(name)]));
  const settings = kept ? [kept, setting()] : [setting()];
  return { ask: 'rehearse', ...asked, seed: Number(seed.value) || 0, nodes: Number(nodes.value) || null, downtime: downtime.checked, settings };
}

const run = latest(() => attempt(async () => {
  busy.textContent = 'The rollout is being simulated…';
  try {
    answer = await ask(question());
  } finally {
    busy.textContent = '';
  }
  show();
}));

function show() {
  stop();
  const parts = [];
  if (answer.beside) {
    const { titles, rows } = answer.beside;
    const head = element('tr', {}, ...titles.map((title) => element('th', { scope: 'col' }, title)));
    parts.push(element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows.map((row) => element('tr', {}, ...row.map((cell) => element('td', {}, cell)))))));
    parts.push(withSave('compare', answer.beside.svg));
  }
  for (const one of answer.runs) {
    if (answer.beside) parts.push(element('h2', {}, one.label));
    parts.push(withSave(one.label, one.svg, one.data), element('pre', { className: 'summary' }, one.text));
  }
  pictures.replaceChildren(...parts);
  scrub.value = 1000;
  frame();
}

function withSave(name, svg, data) {
  const button = element('button', { type: 'button' }, 'Save as SVG');
  button.addEventListener('click', () => save(`${name.replace(/[^a-z0-9.-]+/gi, '-')}.svg`, 'image/svg+xml', svg));
  const shown = picture(svg, CURSOR);
  if (data) explained(shown, data);
  return element('div', {}, shown, element('div', { className: 'bar no-print' }, button));
}

// What is under the pointer, or where the arrow keys are, as the plugin's own page of a rollout tells it.
const CURSOR = '.cursor{stroke:var(--text);opacity:.6;pointer-events:none}.frame{fill:none;stroke:var(--text);stroke-width:2;pointer-events:none}';
function explained(host, data) {
  Object.assign(host, { tabIndex: 0, role: 'group', ariaLabel: 'Timeline; arrow keys tell its parts' });
  const figure = { querySelector: (name) => host.shadowRoot.querySelector(name), addEventListener: (...given) => host.addEventListener(...given) };
  // Where there are too many nodes for a row each, the picture has layers.
  explain(figure, data.layers ? { ...data, rows: null } : data);
}

function duration(ms) {
  const s = Math.floor(ms / 1000);
  return s < 3600 ? `${Math.floor(s / 60)}m${String(s % 60).padStart(2, '0')}s` : `${Math.floor(s / 3600)}h${String(Math.floor(s % 3600 / 60)).padStart(2, '0')}m`;
}

// The nodes of the last run at the time of the slider, in the picture's colours, and a line through the picture.
function frame() {
  if (!answer) return;
  const { data } = answer.runs.at(-1);
  const t = data.length * scrub.value / 1000;
  const point = data.curve.findLast((it) => it[0] <= t) || data.curve[0];
  at.textContent = `${duration(t)}${point ? `: ${point[2]} of ${point[1]} unavailable` : ''}`;
  scrub.setAttribute('aria-valuetext', at.textContent);
  const host = [...pictures.querySelectorAll('.picture')].at(-1);
  const svg = host.shadowRoot.querySelector('svg');
  let line = svg.querySelector('.scrub');
  if (!line) {
    line = document.createElementNS('http://www.w3.org/2000/svg', 'line');
    line.setAttribute('class', 'scrub mark');
    svg.append(line);
  }
  const x = data.left + (data.right - data.left) * scrub.value / 1000;
  Object.entries({ x1: x, x2: x, y1: data.top, y2: data.panelBottom }).forEach(([name, it]) => line.setAttribute(name, it));
  draw(svg, data, t);
}

const colours = new Map();
function colour(svg, name) {
  if (!colours.has(name)) {
    const probe = document.createElementNS('http://www.w3.org/2000/svg', 'g');
    probe.setAttribute('class', name);
    svg.append(probe);
    colours.set(name, getComputedStyle(probe).color);
    probe.remove();
  }
  return colours.get(name);
}

const spanAt = ({ spans }, data, t) => spans.find(([from, to]) => from <= t && t < to) || (t >= data.length ? spans.at(-1) : undefined);

function draw(svg, data, t) {
  const width = place.clientWidth || 800;
  const { rows } = data;
  const pitch = Math.max(5, Math.min(18, Math.floor(Math.sqrt(width * 110 / Math.max(rows.length, 1)))));
  const columns = Math.floor(width / pitch);
  const scale = devicePixelRatio || 1;
  const height = Math.ceil(rows.length / columns) * pitch;
  Object.assign(canvas, { width: width * scale, height: height * scale });
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext('2d');
  pen.scale(scale, scale);
  rows.forEach((row, number) => {
    const span = spanAt(row, data, t);
    if (!span || span[2] === null) return;
    pen.fillStyle = colour(svg, data.classes[span[2]]);
    pen.fillRect((number % columns) * pitch, Math.floor(number / columns) * pitch, pitch - 1, pitch - 1);
  });
  // The sentence of a cell under the pointer.
  canvas.onpointermove = ({ offsetX, offsetY }) => {
    const [column, line] = [Math.floor(offsetX / pitch), Math.floor(offsetY / pitch)];
    const row = column < columns ? rows[line * columns + column] : undefined;
    const span = row && spanAt(row, data, t);
    said.textContent = span ? [`${row.node} at ${duration(t)}: ${span[2] === null ? 'not in the cluster' : data.states[span[2]]}`, span[5]].filter(Boolean).join('; ') : '';
  };
}
canvas.addEventListener('pointerleave', () => { said.textContent = ''; });

function stop() {
  cancelAnimationFrame(timer);
  timer = null;
  play.textContent = 'Play';
}

play.addEventListener('click', () => {
  if (timer) return stop();
  if (Number(scrub.value) >= 1000) scrub.value = 0;
  play.textContent = 'Pause';
  let before = performance.now();
  const step = (now) => {
    scrub.value = Number(scrub.value) + (now - before) * 1000 / (SPEEDS * 1000);
    before = now;
    frame();
    if (Number(scrub.value) >= 1000) return stop();
    timer = requestAnimationFrame(step);
    return undefined;
  };
  scrub.step = 'any';
  timer = requestAnimationFrame(step);
  return undefined;
});
scrub.addEventListener('input', () => { stop(); frame(); });
keep.addEventListener('click', () => { kept = setting(); drop.hidden = false; compared.hidden = false; run(); });
drop.addEventListener('click', () => { kept = null; drop.hidden = true; compared.hidden = true; run(); });
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { colours.clear(); frame(); });

export const rehearsal = {
  // This view is looked at.
  begin() { if (!answer) run(); },
  // Another cluster: the last run is no longer of it.
  reset() {
    answer = null;
    kept = null;
    drop.hidden = true;
    compared.hidden = true;
    stop();
    pictures.replaceChildren();
    said.textContent = '';
    at.textContent = '';
    Object.assign(canvas, { width: 0, height: 0, onpointermove: null });
    canvas.style.height = '0';
    Object.keys(inputs).forEach(tell);
    if (!place.hidden) run();
  },
  setting: () => question(),
};
