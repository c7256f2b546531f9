// A link with the whole state in its fragment, which no server ever sees.
import { attempt, byId, copyText, element, save } from './dom.js';
import { ask } from './planner.js';
import { fleet } from './fleet.js';

// The story that is open, if it is one, and the view that was looked at before this one.
export const share = { story: '', view: 'fleet' };
// Longer links are cut by many programs.
const LONG = 30000;

const place = byId('share');
const environment = element('input', { type: 'checkbox', id: 'share-environment' });
const annotations = element('input', { type: 'checkbox', id: 'share-annotations' });
const make = element('button', { type: 'button', id: 'share-go' }, 'Make a link');
const link = element('input', { type: 'text', readOnly: true, id: 'share-link', ariaLabel: 'The link', hidden: true });
const copy = element('button', { type: 'button', hidden: true }, 'Copy');
const size = element('p', { role: 'status', className: 'muted', id: 'share-size' });
const saveDump = element('button', { type: 'button', id: 'share-save' }, 'Save the cluster as a file');
const print = element('button', { type: 'button' }, 'Print');
place.append(
  element('h2', {}, 'Share what you see'),
  element('p', {}, 'The link holds the cluster, the time and the view, compressed, after its #: whoever opens it sees the same, and no server sees any of it. '
    + 'Values of environment variables and of the HTTP headers of probes, annotations that no plan reads, and objects such as Secrets are left out. Commands, arguments and labels are in it: look at them first.'),
  element('div', { className: 'bar' }, element('label', {}, environment, ' with the values of environment variables and headers'), element('label', {}, annotations, ' with all annotations')),
  element('div', { className: 'bar' }, make, link, copy), size,
  element('div', { className: 'bar' }, saveDump, print),
);

const base64 = (bytes) => {
  let text = '';
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
};

async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

async function state() {
  const shown = { view: share.view, now: fleet.now, daemonSet: byId('daemonset').value, node: fleet.node };
  if (share.story) return { ...shown, story: share.story };
  return { ...shown, text: await ask({ ask: 'share', environment: environment.checked, annotations: annotations.checked }) };
}

make.addEventListener('click', () => attempt(async () => {
  const packed = base64(await through(new CompressionStream('deflate-raw'), new TextEncoder().encode(JSON.stringify(await state()))));
  link.value = `${location.href.replace(/#.*/, '')}#s=${packed}`;
  link.hidden = false;
  copy.hidden = false;
  size.textContent = `${link.value.length.toLocaleString('en')} characters.${link.value.length > LONG ? ' Many programs cut such a long link: a file is safer.' : ''}`;
}));
copy.addEventListener('click', () => copyText(copy, link.value));
saveDump.addEventListener('click', () => attempt(async () => {
  save('cluster.json', 'application/json', await ask({ ask: 'share', environment: environment.checked, annotations: annotations.checked }));
}));
// What is printed is the view that was looked at; its pictures are drawn when it is shown.
print.addEventListener('click', async () => {
  const drawn = () => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); });
  byId(`tab-${share.view}`).click();
  await drawn();
  window.print();
  byId('tab-share').click();
});

// The state that the link has, if any.
export async function shared() {
  if (!location.hash.startsWith('#s=')) return null;
  try {
    const packed = location.hash.slice(3).replaceAll('-', '+').replaceAll('_', '/');
    const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
    const state = JSON.parse(new TextDecoder().decode(await through(new DecompressionStream('deflate-raw'), bytes)));
    if (typeof state?.story === 'string' || typeof state?.text === 'string') return state;
  } catch {
    // It is as damaged as one that holds something else.
  }
  throw new Error('The link is damaged: a part of it is missing, as where a program has cut it. Ask for it again, or for a file.');
}

// Another link in the same tab.
addEventListener('hashchange', () => { if (location.hash.startsWith('#s=')) location.reload(); });
