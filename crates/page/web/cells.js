// A cell for each node on a canvas: thousands of them stay fluent.
import { byId, element } from './dom.js';

const NAMES = {
  acts: 'this plan acts on it', stuck: 'something is wrong', waits: 'on its way', held: 'a limit or a person holds it',
  calm: 'nothing to do', none: 'no pod wanted',
};
const GAP = 2;

export class Cells {
  constructor(canvas, said, onChoose) {
    Object.assign(this, { canvas, said, onChoose, cells: null, at: -1, hover: -1, columns: 1, pitch: 20 });
    canvas.addEventListener('pointermove', (event) => this.tell(this.under(event)));
    canvas.addEventListener('pointerleave', () => this.tell(document.activeElement === canvas ? this.at : -1, false));
    canvas.addEventListener('click', (event) => { const at = this.under(event); if (at >= 0) { this.at = at; onChoose(this.cells.nodes[at]); this.draw(); } });
    canvas.addEventListener('focus', () => this.go(Math.max(this.at, 0)));
    canvas.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(canvas.parentElement);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
  }

  // Another cluster: no cell is chosen.
  begin() {
    Object.assign(this, { at: -1, hover: -1 });
  }

  show(cells) {
    this.cells = cells;
    if (this.at >= cells.nodes.length) this.at = -1;
    if (this.hover >= cells.nodes.length) this.hover = -1;
    this.draw();
    const counts = {};
    for (const look of cells.looks) counts[look] = (counts[look] || 0) + 1;
    byId('legend').replaceChildren(...Object.keys(NAMES).filter((look) => counts[look]).map((look) =>
      element('li', {}, element('span', { className: `chip ${look}`, ariaHidden: 'true' }), `${counts[look]}: ${NAMES[look]}`)));
    const told = Object.keys(NAMES).filter((look) => counts[look]).map((look) => `${counts[look]}: ${NAMES[look]}`);
    this.canvas.setAttribute('aria-label', `${cells.nodes.length} nodes. ${told.join('; ')}. Arrow keys go from node to node, Enter tells why.`);
    const here = this.hover >= 0 ? this.hover : this.at;
    this.said.textContent = here >= 0 ? this.sentence(here) : '';
  }

  sentence(at) {
    const { nodes, said, sentences, waves } = this.cells;
    const wave = waves && waves[at] ? `, wave ${waves[at] - 1}` : '';
    return `${nodes[at]}${wave}: ${sentences[said[at]]}`;
  }

  under(event) {
    const x = Math.floor(event.offsetX / this.pitch);
    const y = Math.floor(event.offsetY / this.pitch);
    const at = y * this.columns + x;
    return this.cells && x < this.columns && at >= 0 && at < this.cells.nodes.length ? at : -1;
  }

  tell(at, move = true) {
    this.said.textContent = at >= 0 && this.cells ? this.sentence(at) : '';
    if (move && at >= 0 && at !== this.hover) { this.hover = at; this.draw(); }
    if (!move) { this.hover = -1; this.draw(); }
  }

  go(at) {
    if (!this.cells || !this.cells.nodes.length) return;
    this.at = Math.max(0, Math.min(at, this.cells.nodes.length - 1));
    this.tell(this.at);
  }

  key(event) {
    // Those of the browser, such as Alt and an arrow.
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.columns, ArrowDown: this.columns };
    if (event.key in steps) this.go(this.at + steps[event.key]);
    else if (event.key === 'Home') this.go(0);
    else if (event.key === 'End') this.go(Infinity);
    else if (event.key === 'n') this.go(this.worse(this.at));
    else if (event.key === 'Enter' || event.key === ' ') { if (this.at >= 0) this.onChoose(this.cells.nodes[this.at]); }
    else return;
    event.preventDefault();
  }

  // The next node where something is wrong.
  worse(from) {
    const { looks } = this.cells;
    for (let step = 1; step <= looks.length; step += 1) {
      const at = (from + step) % looks.length;
      if (looks[at] === 'stuck') return at;
    }
    return from;
  }

  draw() {
    if (!this.cells) return;
    Object.assign(this, draw(this.canvas, this.cells, [this.at, this.hover]));
  }
}

// Draws the cells as wide as their place, with these ones marked, and gives the grid.
export function draw(canvas, cells, marked = []) {
  const width = canvas.parentElement.clientWidth;
  const number = cells.nodes.length;
  // About half as high as wide, and never so small that a pointer misses.
  const pitch = Math.max(7, Math.min(30, Math.floor(Math.sqrt(width * width * 0.5 / Math.max(number, 1)))));
  const columns = Math.max(1, Math.floor(width / pitch));
  const height = Math.ceil(number / columns) * pitch;
  const scale = devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.height = `${height}px`;
  const style = getComputedStyle(document.documentElement);
  const colour = Object.fromEntries([...Object.keys(NAMES), 'text', 'wave'].map((name) => [name, style.getPropertyValue(`--${name}`)]));
  const pen = canvas.getContext('2d');
  pen.scale(scale, scale);
  const size = pitch - (pitch > 9 ? GAP : 1);
  const place = (at) => [(at % columns) * pitch, Math.floor(at / columns) * pitch];
  // One path for each colour: thousands of single cells would take several times as long.
  for (const name of Object.keys(NAMES)) {
    pen.beginPath();
    cells.looks.forEach((look, at) => { if (look === name) pen.rect(...place(at), size, size); });
    pen.fillStyle = colour[name];
    pen.fill();
  }
  // The first waves have a bar in their cells: the earlier the wave, the longer it is.
  const last = Math.max(...(cells.waves || [0]));
  pen.fillStyle = colour.wave;
  (cells.waves || []).forEach((wave, at) => {
    const [x, y] = place(at);
    if (wave) pen.fillRect(x, y + size - Math.max(2, size / 8), size * (last - wave + 1) / last, Math.max(2, size / 8));
  });
  for (const at of cells.turns || []) {
    const [x, y] = place(at);
    pen.beginPath();
    pen.arc(x + size / 2, y + size / 2, size / 5, 0, 7);
    pen.fill();
  }
  pen.strokeStyle = colour.text;
  pen.lineWidth = 2;
  for (const at of new Set(marked)) {
    if (at >= 0 && at < number) pen.strokeRect(...place(at), size, size);
  }
  return { pitch, columns };
}

// The nodes by sentence, for readers of tables.
export function table(cells) {
  const groups = new Map();
  cells.nodes.forEach((node, at) => {
    const sentence = cells.sentences[cells.said[at]];
    if (!groups.has(sentence)) groups.set(sentence, []);
    groups.get(sentence).push(node);
  });
  const rows = [...groups].map(([sentence, nodes]) => element('tr', {}, element('td', {}, `${nodes.length}`), element('td', {}, sentence), element('td', {}, nodes.join(', '))));
  const head = element('tr', {}, ...['Nodes', 'State', 'Names'].map((title) => element('th', { scope: 'col' }, title)));
  return element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows));
}
