// A policy to try, a manifest to judge, and the DaemonSets of a node.
import { attempt, byId, copyText, element } from './dom.js';
import { ask, latest } from './planner.js';
import { draw } from './cells.js';
import { fleet } from './fleet.js';

const place = byId('policy');
const text = element('textarea', { rows: 14, id: 'policy-text', spellcheck: false, ariaLabel: 'The policy, in YAML or JSON' });
const state = element('p', { role: 'status', id: 'policy-state' });
const findings = element('ul', { id: 'policy-findings' });
const canvas = element('canvas', { id: 'policy-cells', role: 'img', ariaLabel: 'The waves of this policy' });
const copy = element('button', { type: 'button', id: 'policy-copy' }, 'Copy as annotation');
const manifestText = element('textarea', { rows: 10, id: 'manifest-text', spellcheck: false, ariaLabel: 'A manifest', placeholder: 'A manifest of a DaemonSet of this cluster, in YAML or JSON' });
const judge = element('button', { type: 'button', id: 'manifest-go' }, 'Would it restart my fleet?');
const judged = element('div', { id: 'manifest-judged', role: 'status' });
const node = element('input', { type: 'text', id: 'on-node' });
const isNew = element('input', { type: 'checkbox', id: 'on-new' });
const onGo = element('button', { type: 'button', id: 'on-go' }, 'Which DaemonSets run on it?');
const onNode = element('div', { id: 'on-answer', role: 'status' });
place.append(
  element('h2', {}, 'The policy of the rollout'),
  element('p', { className: 'muted' }, 'The content of the annotation rollout.daemonset/policy: waves, failures, turns. It is checked as you type, against this cluster.'),
  element('div', { className: 'columns' },
    element('div', {}, text, element('div', { className: 'bar' }, copy)),
    element('div', {}, state, canvas, findings)),
  element('h2', {}, 'Would this manifest restart my fleet?'), manifestText, element('div', { className: 'bar' }, judge), judged,
  element('h2', {}, 'Which DaemonSets run on such a node?'),
  element('div', { className: 'bar' }, element('label', {}, 'Node ', node), element('label', {}, isNew, ' a new one like it'), onGo), onNode,
);

function show(list, found) {
  list.replaceChildren(...(found.length ? found.map(({ severity, path, why, remedy }) => element('li', { className: severity },
    element('b', {}, `${severity} ${path}: `), `${why} `, element('span', { className: 'muted' }, remedy)))
    : [element('li', {}, 'Nothing to say.')]));
}

const look = latest(() => attempt(async () => {
  const tried = await ask({ ask: 'policy', text: text.value });
  state.textContent = tried.problems || (tried.words ? `It says: ${tried.words}.` : 'It steers nothing: all nodes are updated within the limits of the update strategy.');
  state.className = tried.problems ? 'problem' : '';
  show(findings, tried.findings);
  canvas.hidden = !tried.fleet;
  if (tried.fleet) draw(canvas, tried.fleet.cells);
}));
text.addEventListener('input', look);

copy.addEventListener('click', () => {
  const [namespace, name] = fleet.last.name.split('/');
  const quoted = `'${text.value.trim().replaceAll("'", "'\\''")}'`;
  copyText(copy, `kubectl annotate daemonset -n ${namespace} ${name} --overwrite rollout.daemonset/policy=${quoted}`);
});

judge.addEventListener('click', () => attempt(async () => {
  const found = await ask({ ask: 'manifest', text: manifestText.value });
  const list = element('ul', {});
  show(list, found.findings);
  judged.replaceChildren(
    element('p', { className: 'headline' }, `${found.name}: ${found.restart}`),
    element('ul', {}, ...found.differences.map((it) => element('li', {}, element('code', {}, it)))), list,
  );
}));

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
  text.value = await ask({ ask: 'policy', text: null });
  node.value = fleet.node || fleet.last.cells.nodes[0] || '';
  look();
}
let seen = null;
// The first look at this view after a cluster was opened.
export function policyView() {
  if (seen === fleet.last?.name + fleet.opened) return;
  seen = fleet.last?.name + fleet.opened;
  judged.replaceChildren();
  onNode.replaceChildren();
  attempt(begin);
}

export function manifest(given) {
  manifestText.value = typeof given === 'string' ? given : new TextDecoder().decode(given);
  judge.click();
}
