// A text with its findings beside the lines that they are about, and those about no line above it.
import { element } from './dom.js';

// Of a line in the style sheet, in pixels, and the room above the first one.
const LINE = 18;
const PADDING = 8;
const LEAST = 8;
const MOST = 32;

export class Editor {
  constructor(id, label, placeholder = '') {
    this.text = element('textarea', { id, className: 'code', wrap: 'off', spellcheck: false, ariaLabel: label, placeholder, 'aria-describedby': `${id}-state` });
    this.state = element('p', { id: `${id}-state`, role: 'status' });
    this.above = element('ul', { id: `${id}-above`, className: 'notes' });
    this.numbers = element('pre', { className: 'numbers', ariaHidden: 'true' });
    this.beside = element('ol', { id: `${id}-beside`, className: 'notes beside', ariaLabel: 'Findings, by line' });
    this.notes = [];
    this.element = element('div', {}, this.state, this.above,
      element('div', { className: 'editor' }, element('div', { className: 'written' }, this.numbers, this.text), this.beside));
    this.text.addEventListener('input', () => this.count());
    this.text.addEventListener('scroll', () => this.place());
    document.addEventListener('selectionchange', () => { if (document.activeElement === this.text) this.describe(); });
    // Hidden texts have no place.
    new ResizeObserver(() => this.place()).observe(this.text);
    this.count();
  }

  get value() { return this.text.value; }

  set value(value) { this.text.value = value; this.show([]); }

  // Sentences about the whole: the first is a problem, if it is one.
  say(sentence, isProblem = false) {
    this.state.textContent = sentence;
    this.state.className = isProblem ? 'problem' : '';
  }

  show(findings) {
    const note = ({ severity, path, why, remedy }, at) => element('li', { className: severity, id: `${this.text.id}-note-${at}` },
      element('span', { className: 'told' }, element('b', {}, `${[severity, path].filter(Boolean).join(' ')}: `), why, remedy && element('span', { className: 'muted' }, ` ${remedy}`)));
    const made = findings.map((finding, at) => ({ line: finding.line, severity: finding.severity, item: note(finding, at) }));
    this.above.replaceChildren(...made.filter(({ line }) => !line).map(({ item }) => item));
    this.notes = made.filter(({ line }) => line).sort((a, b) => a.line - b.line);
    for (const { line, item } of this.notes) {
      const go = element('button', { type: 'button', className: 'line' }, `Line ${line}`);
      go.addEventListener('click', () => this.goTo(line));
      item.prepend(go);
    }
    this.beside.replaceChildren(...this.notes.map(({ item }) => item));
    this.text.setAttribute('aria-invalid', findings.some(({ severity }) => severity === 'Error'));
    this.count();
    this.describe();
  }

  count() {
    const lines = this.text.value.split('\n').length;
    this.text.rows = Math.max(LEAST, Math.min(lines, MOST));
    const worst = new Map();
    // Findings come worst first.
    for (const { line, severity } of this.notes) if (!worst.has(line) || severity === 'Error') worst.set(line, severity);
    const parts = [];
    for (let line = 1; line <= lines; line += 1) {
      const severity = worst.get(line);
      if (severity) parts.push(element('b', { className: `mark ${severity}` }, `${line}`), '\n');
      else if (typeof parts.at(-1) === 'string') parts.push(`${parts.pop()}${line}\n`);
      else parts.push(`${line}\n`);
    }
    this.numbers.replaceChildren(...parts);
    this.place();
  }

  // Each note at its line, or right below the one before.
  place() {
    const scrolled = this.text.scrollTop;
    this.numbers.style.height = `${this.text.clientHeight}px`;
    this.numbers.scrollTop = scrolled;
    let end = 0;
    for (const { line, item } of this.notes) {
      const top = Math.max(0, Math.min(PADDING + (line - 1) * LINE - scrolled, this.text.clientHeight - LINE));
      item.style.setProperty('--down', `${Math.max(0, top - end)}px`);
      end = Math.max(top, end) + item.offsetHeight;
    }
  }

  // The notes of the line with the caret describe the text.
  describe() {
    const here = this.text.value.slice(0, this.text.selectionStart).split('\n').length;
    const ids = [this.state.id];
    for (const { line, item } of this.notes) {
      item.classList.toggle('here', line === here);
      if (line === here) ids.push(item.id);
    }
    this.text.setAttribute('aria-describedby', ids.join(' '));
  }

  goTo(line) {
    const before = this.text.value.split('\n').slice(0, line - 1).join('\n');
    const start = line > 1 ? before.length + 1 : 0;
    const end = this.text.value.indexOf('\n', start);
    this.text.focus();
    this.text.setSelectionRange(start, end < 0 ? this.text.value.length : end);
    this.text.scrollTop = Math.max(0, (line - 4) * LINE);
    this.describe();
  }
}
