// The rollout of a next version: sliders, the simulation, and its picture, which plays.
import { attempt, byId, element, picture, save } from './dom.js';
import { ask, latest } from './planner.js';

const SLIDERS = [
  ['maxUnavailable', 'maxUnavailable', ['', '1', '2', '3', '5', '10%', '20%', '30%', '50%', '100%']],
  ['maxSurge', 'maxSurge', ['', '1', '2', '3', '5', '10%', '20%', '30%', '50%', '100%']],
  ['minReadySeconds', 'minReadySeconds', ['', '0', '5', '10', '30', '60', '120', '300']],
  ['startup', 'From start to Ready', ['', '1s', '2s,p99=5s', '5s,p99=15s', '10s,p99=1m', '30s,p99=3m', '1m,p99=10m']],
  ['pull', 'Pulling the image', ['', '1s', '4s,p99=25s', '15s,p99=1m', '1m,p99=5m']],
  ['failureRate', 'A start crashes', ['0%', '1%', '5%', '10%', '20%', '50%']],
  ['crashLoops', 'Nodes where it crashes each time', ['0%', '1%', '5%', '10%', '50%', '100%']],
  ['pullFails', 'Nodes that lack the image', ['0%', '1%', '5%', '10%', '50%', '100%']],
  ['broken', 'Nodes where it is never Ready', ['0%', '1%', '5%', '10%', '50%', '100%']],
  ['lag', 'The controller sees changes after', ['', '1ms', '5ms..100ms', '1s', '5s', '30s']],
  ['crash', 'The controller crashes', ['0%', '1%', '5%', '20%']],
  ['churn', 'A node comes, goes or fails every', ['', '10m', '5m', '2m', '1m']],
  ['approveAfter', 'Waves are approved after', ['', '1m', '10m', '1h']],
];
const OF_SETTING = new Set(['maxUnavailable', 'maxSurge', 'minReadySeconds']);
const SPEEDS = 12;

const place = byId('rehearsal');
const inputs = {};
const form = element('div', { className: 'form' });
for (const [name, label, steps] of SLIDERS) {
  const shown = element('output', {});
  const input = element('input', { type: 'range', min: 0, max: steps.length - 1, step: 1, value: 0, id: `slide-${name}` });
  inputs[name] = { input, steps, shown };
  input.addEventListener('input', () => { tell(name); run(); });
  form.append(element('label', {}, label, shown, input));
}
const seed = element('input', { type: 'number', min: 0, max: 1e9, value: 1, id: 'seed' });
const nodes = element('input', { type: 'number', min: 1, max: 5000, placeholder: 'as the cluster has', id: 'sim-nodes' });
seed.addEventListener('change', () => run());
nodes.addEventListener('change', () => run());
form.append(element('label', {}, 'Seed: the same seed, the same luck', seed), element('label', {}, 'Nodes', nodes));
const policy = element('textarea', { rows: 6, id: 'sim-policy', placeholder: 'Empty: the policy of the DaemonSet itself', spellcheck: false });
policy.addEventListener('change', () => run());
const keep = element('button', { type: 'button', id: 'keep' }, 'Keep beside the next');
const drop = element('button', { type: 'button', id: 'drop-kept', hidden: true }, 'Only this one');
const play = element('button', { type: 'button', id: 'play' }, 'Play');
const scrub = element('input', { type: 'range', min: 0, max: 1000, value: 1000, id: 'scrub', ariaLabel: 'The time of the rollout' });
const at = element('output', { id: 'scrub-shown' });
const canvas = element('canvas', { id: 'played', role: 'img', ariaLabel: 'The nodes at the time of the slider' });
const busy = element('p', { className: 'muted', role: 'status' });
const pictures = element('div', {});
place.append(
  element('p', {}, 'A simulation of the next version on this cluster: the same planner, with kubelets, caches and crashes of its own.'),
  form,
  element('details', {}, element('summary', {}, 'A policy to try'), policy),
  element('div', { className: 'bar' }, keep, drop, play, scrub, at), busy, canvas, pictures,
);

let kept = null;
let answer = null;
let timer = null;

const value = (name) => inputs[name].steps[inputs[name].input.value];

function tell(name) {
  const { shown } = inputs[name];
  shown.textContent = value(name) || 'as it is';
  inputs[name].input.setAttribute('aria-valuetext', shown.textContent);
}

function setting() {
  const asked = Object.fromEntries([...OF_SETTING].map((name) => [name, value(name)]));
  if (policy.value.trim()) asked.policy = policy.value;
  return asked;
}

function question() {
  const asked = Object.fromEntries(SLIDERS.filter(([name]) => !OF_SETTING.has(name)).map(([name]) => [name, value(name)]));
  const settings = kept ? [kept, setting()] : [setting()];
  return { ask: 'rehearse', ...asked, seed: Number(seed.value) || 0, nodes: Number(nodes.value) || null, settings };
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
    parts.push(withSave(one.label, one.svg), element('pre', { className: 'summary' }, one.text));
  }
  pictures.replaceChildren(...parts);
  scrub.value = 1000;
  frame();
}

function withSave(name, svg) {
  const button = element('button', { type: 'button' }, 'Save as SVG');
  button.addEventListener('click', () => save(`${name.replace(/[^a-z0-9.-]+/gi, '-')}.svg`, 'image/svg+xml', svg));
  const shown = picture(svg);
  return element('div', {}, shown, element('div', { className: 'bar no-print' }, button));
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
  rows.forEach(({ spans }, number) => {
    const span = spans.find(([from, to]) => from <= t && t < to) || (t >= data.length && spans.at(-1));
    if (!span || span[2] === null) return;
    pen.fillStyle = colour(svg, data.classes[span[2]]);
    pen.fillRect((number % columns) * pitch, Math.floor(number / columns) * pitch, pitch - 1, pitch - 1);
  });
}

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
keep.addEventListener('click', () => { kept = setting(); drop.hidden = false; run(); });
drop.addEventListener('click', () => { kept = null; drop.hidden = true; run(); });
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { colours.clear(); frame(); });
byId('tab-rehearsal').addEventListener('click', () => { if (!answer) run(); });
byId('tab-rehearsal').addEventListener('focus', () => { if (!answer) run(); });

export const rehearsal = {
  // Another cluster: the last run is no longer of it.
  reset() {
    answer = null;
    kept = null;
    drop.hidden = true;
    pictures.replaceChildren();
    SLIDERS.forEach(([name]) => tell(name));
    if (!place.hidden) run();
  },
  setting: () => question(),
};
