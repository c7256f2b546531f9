// The page: what is open, and which view is shown.
import { atTop, attempt, byId, element } from './dom.js';
import { ask, open, took } from './planner.js';
import { begin, fleet, goTo, why } from './fleet.js';
import { rehearsal } from './rehearsal.js';
import { manifest, policyView, resetPolicy } from './policy.js';
import { share, shared } from './share.js';

async function show(opened, text, now = opened.now, story = '') {
  if (opened.manifest) {
    if (byId('main').hidden) throw new Error('This is a manifest. Open a cluster first, or a story: the manifest is then judged against it.');
    select('policy');
    return manifest(text);
  }
  const chooser = byId('daemonset');
  chooser.replaceChildren(...opened.daemonSets.map(({ name, now }) => element('option', { value: name }, `${name}: ${now}`)));
  chooser.value = opened.chosen;
  byId('chooser').hidden = opened.daemonSets.length < 2;
  byId('main').hidden = false;
  byId('begin').hidden = true;
  byId('tabs').hidden = false;
  share.story = story;
  byId('story').value = story;
  await look(now);
  return undefined;
}

// Another cluster, or another of its DaemonSets: each view is of it.
async function look(now) {
  try {
    await begin(now);
    // What failed meanwhile was a question about the one before.
    atTop('');
  } finally {
    rehearsal.reset();
    resetPolicy();
  }
}

async function choose(name) {
  await ask({ ask: 'choose', daemonSet: name });
  byId('daemonset').value = name;
  await look(fleet.opened);
}

// How often something was to be opened: a file that takes long to be read is overtaken.
let asked = 0;

export async function openText(text, now) {
  asked += 1;
  const begun = performance.now();
  Object.assign(fleet, { opening: begun });
  delete took.paint;
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  await show(await open(bytes), text, now);
  took.drop = performance.now() - begun;
}

async function openStory(name) {
  asked += 1;
  const { opened, dump } = await ask({ ask: 'story', name });
  await show(opened, dump, opened.now, name);
}

export function select(name) {
  for (const tab of document.querySelectorAll('[role=tab]')) {
    const chosen = tab.id === `tab-${name}`;
    tab.setAttribute('aria-selected', chosen);
    tab.tabIndex = chosen ? 0 : -1;
    byId(tab.getAttribute('aria-controls')).hidden = !chosen;
  }
  if (name !== 'share') share.view = name;
  if (name === 'policy') policyView();
  if (name === 'rehearsal') rehearsal.begin();
}

const tabs = [...document.querySelectorAll('[role=tab]')];
tabs.forEach((tab, at) => {
  tab.addEventListener('click', () => select(tab.id.slice(4)));
  tab.addEventListener('keydown', ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!step) return;
    const next = tabs[(at + step + tabs.length) % tabs.length];
    select(next.id.slice(4));
    next.focus();
  });
});

byId('story').addEventListener('change', () => { if (byId('story').value) attempt(() => openStory(byId('story').value)); });
byId('daemonset').addEventListener('change', () => attempt(() => choose(byId('daemonset').value)));
byId('paste-open').addEventListener('click', () => {
  byId('paste').hidden = !byId('paste').hidden;
  byId('paste-open').setAttribute('aria-expanded', !byId('paste').hidden);
  if (!byId('paste').hidden) byId('text').focus();
});
byId('paste-go').addEventListener('click', () => { attempt(() => openText(byId('text').value)); });
byId('file').addEventListener('change', () => {
  const [file] = byId('file').files;
  // The same file may be chosen again: it is another one by then.
  byId('file').value = '';
  openFile(file);
});

function openFile(file) {
  if (!file) return;
  const number = ++asked;
  attempt(async () => {
    const bytes = await file.arrayBuffer().catch(() => { throw new Error(`${file.name} can't be read: it may be a folder, or gone.`); });
    if (number !== asked) return;
    await openText(new Uint8Array(bytes));
  });
}

addEventListener('dragover', (event) => { event.preventDefault(); byId('drop').hidden = false; });
addEventListener('dragleave', (event) => { if (!event.relatedTarget) byId('drop').hidden = true; });
addEventListener('drop', (event) => {
  event.preventDefault();
  byId('drop').hidden = true;
  const { files } = event.dataTransfer;
  const text = event.dataTransfer.getData('text');
  if (files.length > 1) attempt(() => { throw new Error(`These are ${files.length} files: drop one, which holds the whole cluster.`); });
  else if (files.length) openFile(files[0]);
  else if (text.trim()) attempt(() => openText(text));
});
addEventListener('paste', (event) => {
  if (/^(textarea|input)$/i.test(event.target.tagName)) return;
  const text = event.clipboardData.getData('text');
  if (text.trim()) attempt(() => openText(text));
});

attempt(async () => {
  const stories = await ask({ ask: 'stories' });
  byId('story').append(...stories.map(({ name, title, about }) => element('option', { value: name, title: about }, title)));
  byId('tales').append(...stories.map(({ name, title, about }) => {
    const tale = element('button', { type: 'button' }, element('b', {}, title), element('span', { className: 'muted' }, about));
    tale.addEventListener('click', () => { byId('story').value = name; attempt(() => openStory(name)); });
    return element('li', {}, tale);
  }));
  const filled = byId('cluster');
  const link = await shared();
  // A link has the cluster that it is about, whatever the page is filled with.
  if (link?.story) await openStory(link.story);
  else if (link?.text) await openText(link.text);
  else if (filled) await openText(filled.textContent, filled.dataset.now);
  const daemonSet = link ? link.daemonSet : filled?.dataset.daemonset;
  if (daemonSet && daemonSet !== byId('daemonset').value) await choose(daemonSet);
  if (Number.isFinite(link?.now)) await goTo(link.now);
  if (link && byId(`tab-${link.view}`)) select(link.view);
  if (typeof link?.node === 'string') { fleet.node = link.node; await why(); }
}).finally(() => { document.documentElement.dataset.ready = 'yes'; });

// The times of the last answers, in milliseconds, for the curious and for tests.
document.documentElement.took = took;
