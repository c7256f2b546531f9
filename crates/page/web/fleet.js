// The first screen: the fleet at an instant, and why a node is as it is.
import { atTop, attempt, byId, command, element, list } from './dom.js';
import { ask, latest, took } from './planner.js';
import { Cells, table } from './cells.js';

export const fleet = { start: 0, now: 0, instants: [], node: null, last: null };

const cells = new Cells(byId('cells'), byId('cell-said'), (node) => { fleet.node = node; attempt(why); });

const iso = (ms) => new Date(ms).toISOString().replace('.000Z', 'Z');

function clock(ms) {
  const after = Math.round((ms - fleet.start) / 1000);
  return after === 0 ? iso(ms) : `${iso(ms)} (${after > 0 ? '+' : '−'}${span(Math.abs(after))})`;
}

function span(seconds) {
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${seconds % 60 ? `${seconds % 60}s` : ''}`;
  return `${Math.floor(seconds / 3600)}h${Math.floor(seconds % 3600 / 60)}m`;
}

// The nodes for which somebody must do something, whatever the plan waits for: a node that is down looks so.
let wrong = new Set();
function show() {
  const { nodes, looks } = fleet.last.cells;
  cells.show({ ...fleet.last.cells, looks: looks.map((look, at) => (wrong.has(nodes[at]) ? 'stuck' : look)) });
}

// The plan at the instant of the slider.
export const look = latest(async () => {
  byId('now-shown').textContent = clock(fleet.now);
  const at = await ask({ ask: 'at', now: instantOf(fleet.now) });
  fleet.last = at;
  show();
  if (fleet.opening) requestAnimationFrame(() => { took.paint ??= performance.now() - fleet.opening; });
  budget(at);
  byId('head').replaceChildren(...at.head.flatMap(([label, text]) => [element('dt', {}, label), element('dd', {}, text)]));
  list(byId('actions'), at.actions.length ? at.actions : ['Nothing: this plan has no action.']);
  list(byId('warnings'), at.warnings);
  byId('next').textContent = `Next: ${at.next}`;
  if (byId('as-table').open) showTable();
  await lookAhead();
  said();
  clearTimeout(settling);
  settling = setTimeout(settle, SETTLED);
});

// The words about the whole rollout, and about the chosen node, once the slider rests.
const settle = latest(async () => {
  try {
    await stuck();
    if (fleet.node) await why();
  } catch (error) {
    atTop(error.message);
  }
});
let settling;
const SETTLED = 80;

// The opened instant may have fractions of a second, which a slider has not.
const instantOf = (ms) => (ms === fleet.start ? fleet.opened : new Date(ms).toISOString());

function showTable() {
  byId('as-table').querySelector('.scroll').replaceChildren(table(fleet.last.cells));
}
byId('as-table').addEventListener('toggle', () => { if (byId('as-table').open && fleet.last) showTable(); });

function budget({ budget: spent, head }) {
  const line = head.find(([label]) => label === 'Budget');
  const place = byId('budget');
  place.replaceChildren();
  if (!line) return;
  place.append(element('p', {}, `Budget: ${line[1]}`));
  if (!spent) return;
  const whole = Math.max(spent.limit, spent.used + spent.taken, 1);
  const left = Math.max(spent.limit - spent.used - spent.taken, 0);
  const meter = element('div', { className: 'meter', role: 'img', ariaLabel: `${spent.used} of ${spent.limit} used, ${spent.taken} taken by this plan` });
  for (const [name, nodes] of [['used', spent.used], ['taken', spent.taken], ['left', left]]) {
    const part = element('div', { className: `part ${name}` });
    part.style.flexGrow = nodes / whole;
    meter.append(part);
  }
  place.append(meter);
}

// At the end of the known instants there may be more.
async function lookAhead() {
  const last = fleet.instants.at(-1);
  if (!last || fleet.knowsAll || Date.parse(last.at) > fleet.now) return;
  const later = await ask({ ask: 'instants' });
  fleet.instants.push(...later);
  fleet.knowsAll = !later.length;
  extend();
}

// The slider goes beyond the last known instant, and as far as it has gone.
function extend() {
  const seconds = (ms) => Math.ceil((ms - fleet.start) / 1000);
  const last = fleet.instants.length ? seconds(Date.parse(fleet.instants.at(-1).at)) : 0;
  byId('now').max = Math.max(3600, last + 60, seconds(fleet.now));
  byId('now').value = Math.round((fleet.now - fleet.start) / 1000);
}

async function stuck() {
  const { name, headline, findings: found } = await ask({ ask: 'stuck' });
  wrong = new Set(found.filter(({ ends }) => ends === 'Somebody').flatMap((finding) => finding.nodes));
  show();
  byId('headline').textContent = `${name}: ${headline}`;
  const findings = found.map((finding) => element('div', { className: `finding ${finding.ends}` },
    element('p', {}, finding.nodes.length ? element('b', {}, `${names(finding.nodes)}: `) : null, finding.text),
    ...finding.commands.map(command)));
  byId('stuck').replaceChildren(...(findings.length ? findings : [element('p', {}, 'Nothing holds it.')]));
}

const names = (nodes) => (nodes.length > 10 ? `${nodes.slice(0, 10).join(', ')} and ${nodes.length - 10} more` : nodes.join(', '));

export const why = latest(async () => {
  const answer = await ask({ ask: 'why', node: fleet.node });
  const about = answer.daemonSets.flatMap((it) => [
    element('h3', {}, `Node ${answer.name}, DaemonSet ${it.name}`),
    ...it.sentences.map((sentence) => element('p', { className: 'sentence' }, sentence)),
    ...it.commands.map(command),
  ]);
  byId('why').replaceChildren(...about, ...answer.sentences.map((sentence) => element('p', { className: 'sentence' }, sentence)));
});

function said() {
  const passed = fleet.instants.filter(({ at }) => Date.parse(at) <= fleet.now).pop();
  const next = fleet.instants.find(({ at }) => Date.parse(at) > fleet.now);
  byId('instant').textContent = [
    passed && `At ${passed.at}: ${passed.why}.`,
    next ? `Next by time alone, at ${next.at}: ${next.why}.` : 'Time alone changes nothing more.',
  ].filter(Boolean).join(' ');
  byId('now-next').disabled = !next;
}

// A cluster has been opened, or another of its DaemonSets is looked at.
export async function begin(opened) {
  fleet.opened = opened;
  fleet.start = Date.parse(opened);
  fleet.now = fleet.start;
  fleet.node = null;
  fleet.instants = [];
  fleet.knowsAll = false;
  wrong = new Set();
  cells.begin();
  byId('why').replaceChildren(element('p', { className: 'muted' }, 'Choose a node: a click, or Enter on the cells, tells why it is as it is.'));
  byId('now').value = 0;
  try {
    await look();
  } catch (error) {
    empty();
    throw error;
  }
  fleet.instants = await ask({ ask: 'instants' });
  fleet.knowsAll = false;
  extend();
  said();
}

// Nothing of the cluster before is left beside the name of another one.
function empty() {
  clearTimeout(settling);
  fleet.last = null;
  cells.show({ nodes: [], looks: [], said: [], sentences: [] });
  for (const id of ['headline', 'instant', 'budget', 'head', 'stuck', 'actions', 'warnings', 'next', 'now-shown', 'why']) byId(id).replaceChildren();
  byId('as-table').querySelector('.scroll').replaceChildren();
}

// The last instant that a time of Kubernetes can name, nearly.
const END = Date.UTC(9999, 11, 30);
export function goTo(ms) {
  fleet.now = Math.min(Math.max(ms, fleet.start), END);
  extend();
  return look();
}

byId('now').addEventListener('input', () => { fleet.now = fleet.start + Number(byId('now').value) * 1000; attempt(look); });
byId('now-reset').addEventListener('click', () => attempt(() => goTo(fleet.start)));
byId('now-next').addEventListener('click', () => {
  const next = fleet.instants.find(({ at }) => Date.parse(at) > fleet.now);
  // Instants may have fractions of a millisecond: an instant just after.
  if (next) attempt(() => goTo(Math.ceil(Date.parse(next.at) / 1000) * 1000));
});
