// A policy to try, a manifest to judge, and the DaemonSets of a node.
import { attempt, byId, copyText, element } from './dom.js';
import { ask, latest } from './planner.js';
import { draw } from './cells.js';
import { fleet } from './fleet.js';
import { Editor } from './editor.js';
import { examples } from './examples.js';

const place = byId('policy');
const editor = new Editor('policy-text', 'The policy, in YAML or JSON');
const canvas = element('canvas', { id: 'policy-cells', role: 'img', ariaLabel: 'The waves of this policy' });
const copy = element('button', { type: 'button', id: 'policy-copy' }, 'Copy as annotation');
const given = new Editor('manifest-text', 'A manifest', 'A manifest of a DaemonSet of this cluster, in YAML or JSON');
const judge = element('button', { type: 'button', id: 'manifest-go' }, 'Would it restart my fleet?');
const judged = element('div', { id: 'manifest-judged', role: 'status' });
const node = element('input', { type: 'text', id: 'on-node' });
const isNew = element('input', { type: 'checkbox', id: 'on-new' });
const onGo = element('button', { type: 'button', id: 'on-go' }, 'Which DaemonSets run on it?');
const onNode = element('div', { id: 'on-answer', role: 'status' });
place.append(
  element('h2', {}, 'The policy of the rollout'),
  element('p', { className: 'muted' }, 'The content of the annotation rollout.daemonset/policy: waves, failures, turns. It is checked as you type, against this cluster.'),
  editor.element,
  element('div', { className: 'bar' }, examples('policy-example', (text) => { editor.value = text; look(); }), copy),
  canvas,
  element('h2', {}, 'Would this manifest restart my fleet?'), given.element, element('div', { className: 'bar' }, judge), judged,
  element('h2', {}, 'Which DaemonSets run on such a node?'),
  element('div', { className: 'bar' }, element('label', {}, 'Node ', node), element('label', {}, isNew, ' a new one like it'), onGo), onNode,
);

// Each field of the text is in it.
const ANNOTATION = /^metadata\.annotations\[rollout\.daemonset\/policy\]\.?/;
const times = (number, noun) => `${number} ${noun}${number === 1 ? '' : 's'}`;

const look = latest(() => attempt(async () => {
  const tried = await ask({ ask: 'policy', text: editor.value });
  const words = tried.words ? `It says: ${tried.words}.` : 'It steers nothing: all nodes are updated within the limits of the update strategy.';
  const wrong = tried.findings.filter(({ severity, line }) => severity === 'Error' && line);
  // Beside the lines stands what is wrong.
  const problems = wrong.length ? `It can't be used: ${times(wrong.length, 'error')}, ${[...new Set(wrong.map(({ line }) => line))].sort((a, b) => a - b).map((line) => `line ${line}`).join(', ')}.` : tried.problems;
  editor.say(tried.problems ? problems : words, Boolean(tried.problems));
  editor.show(tried.findings.map((finding) => ({ ...finding, path: finding.path.replace(ANNOTATION, '') })));
  canvas.hidden = !tried.fleet;
  if (tried.fleet) draw(canvas, tried.fleet.cells);
}, (sentence) => { if (sentence) editor.say(sentence, true); }));
editor.text.addEventListener('input', look);

copy.addEventListener('click', () => attempt(async () => {
  const { command } = await ask({ ask: 'policy', text: editor.value });
  await copyText(copy, command);
}));

judge.addEventListener('click', () => attempt(async () => {
  judged.replaceChildren();
  given.show([]);
  const found = await ask({ ask: 'manifest', text: given.value });
  given.show(found.findings);
  given.say(found.findings.length ? `${times(found.findings.length, 'finding')}.` : 'No findings.');
  judged.replaceChildren(
    element('p', { className: 'headline' }, `${found.name}: ${found.restart}`),
    element('ul', {}, ...found.differences.map((it) => element('li', {}, element('code', {}, it)))),
  );
}, (sentence) => given.say(sentence, true)));

onGo.addEventListener('click', () => attempt(async () => {
  const { rows, sums } = await ask({ ask: 'on', node: node.value, isNew: isNew.checked });
  const head = element('tr', {}, ...['DaemonSet', 'Runs', 'Requests', 'Host ports', 'Why'].map((title) => element('th', { scope: 'col' }, title)));
  onNode.replaceChildren(
    element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows.map((row) => element('tr', {}, ...row.map((cell) => element('td', {}, cell || '-')))))),
    element('dl', {}, ...sums.flatMap(([label, sum]) => [element('dt', {}, label), element('dd', {}, sum)])),
  );
}));

async function begin() {
  if (!fleet.last) return;
  editor.value = await ask({ ask: 'policy', text: null });
  node.value = fleet.node || fleet.last.cells.nodes[0] || '';
  look();
}
let isSeen = false;
// The first look at this view after a cluster was opened, or another of its DaemonSets chosen.
export function policyView() {
  if (isSeen) return;
  isSeen = true;
  attempt(begin);
}

// Nothing of the DaemonSet before is left.
export function resetPolicy() {
  isSeen = false;
  editor.value = '';
  editor.say('');
  canvas.hidden = true;
  given.show([]);
  given.say('');
  judged.replaceChildren();
  onNode.replaceChildren();
  if (!place.hidden) policyView();
}

export function manifest(text) {
  given.value = typeof text === 'string' ? text : new TextDecoder().decode(text);
  judge.click();
}
