'use strict';
const tip = document.getElementById('tip');
const SVG = 'http://www.w3.org/2000/svg';

function duration(ms) {
  const s = Math.floor(ms / 1000), two = (a, u, b, v) => b ? a + u + b + v : a + u;
  if (s < 10 && ms % 1000 >= 100) return `${s}.${Math.floor(ms % 1000 / 100)}s`;
  if (s < 60) return s + 's';
  if (s < 3600) return two(Math.floor(s / 60), 'm', s % 60, 's');
  if (s < 86400) return two(Math.floor(s / 3600), 'h', Math.floor(s / 60) % 60, 'm');
  return two(Math.floor(s / 86400), 'd', Math.floor(s / 3600) % 24, 'h');
}

// The head, and pairs of a name and a value; never HTML.
function tell(head, pairs, x, y) {
  const title = document.createElement('b'), table = document.createElement('table');
  title.textContent = head;
  for (const [name, value] of pairs.filter(([, value]) => value !== '' && value !== null)) {
    const row = table.insertRow(), cell = document.createElement('th');
    cell.textContent = name;
    row.append(cell);
    row.insertCell().textContent = value;
  }
  tip.replaceChildren(title, table);
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, x + 16 + width > innerWidth ? x - 16 - width : x + 16) + 'px';
  tip.style.top = Math.max(4, Math.min(y + 16, innerHeight - height - 4)) + 'px';
}

function explain(figure, data) {
  const svg = figure.querySelector('svg'), box = svg.viewBox.baseVal;
  const cursor = document.createElementNS(SVG, 'line'), frame = document.createElementNS(SVG, 'rect');
  cursor.setAttribute('class', 'cursor');
  frame.setAttribute('class', 'frame');
  const set = (element, values) => Object.entries(values).forEach(([name, value]) => element.setAttribute(name, value));
  const width = data.right - data.left, rows = data.rows || [];
  const pitch = (data.bottom - data.top) / Math.max(rows.length, 1);
  const xOf = t => data.left + t / data.length * width;
  const timeAt = x => Math.round((x - data.left) / width * data.length);
  const screen = (x, y) => {
    const at = svg.getBoundingClientRect();
    return [at.left + x * at.width / box.width, at.top + y * at.height / box.height];
  };
  const at = { row: 0, span: 0, t: 0 };

  function hide() {
    tip.hidden = true;
    cursor.remove();
    frame.remove();
  }

  function span(row, number, x, y) {
    const { node, spans } = rows[row], [from, to, state, pods, revision, words] = spans[number];
    Object.assign(at, { row, span: number });
    cursor.remove();
    set(frame, { x: xOf(from), width: Math.max(xOf(to) - xOf(from), 1), y: data.top + pitch * row, height: pitch });
    svg.append(frame);
    tell(node, [
      ['state', state === null ? '' : data.states[state]],
      [pods.includes(',') ? 'pods' : 'pod', pods],
      ['revision', revision === null ? '' : data.revisions[revision]],
      ['what', words],
      ['since', duration(from)],
      ['until', to === data.length ? 'the end' : duration(to)],
      ['for', duration(to - from)],
    ], x, y);
  }

  function instant(t, layered, x, y) {
    at.t = t = Math.max(0, Math.min(t, data.length));
    frame.remove();
    set(cursor, { x1: xOf(t), x2: xOf(t), y1: data.top, y2: data.panelBottom });
    svg.append(cursor);
    const point = data.curve.findLast(point => point[0] <= t) || data.curve[0];
    const [, nodes, unavailable, budget, doubled, surge] = point;
    const pairs = [['nodes', nodes], ['unavailable', unavailable]];
    if (!data.surges && budget) pairs.push(['maxUnavailable', budget]);
    if (data.surges) pairs.push(['with two pods', doubled], ['maxSurge', surge]);
    if (layered && data.layers) {
      const { states, columns } = data.layers;
      const column = columns[Math.min(Math.floor(t / data.length * columns.length), columns.length - 1)];
      states.forEach((state, number) => column[number] && pairs.push([state, column[number]]));
    }
    tell('at ' + duration(t), pairs, x, y);
  }

  function point(event) {
    const place = svg.getBoundingClientRect();
    const x = (event.clientX - place.left) * box.width / place.width;
    const y = (event.clientY - place.top) * box.height / place.height;
    const t = timeAt(x), inBody = y >= data.top && y < data.bottom;
    if (x < data.left || x > data.right || y < data.top || y > data.panelBottom) return hide();
    if (!inBody || !data.rows) return instant(t, inBody, event.clientX, event.clientY);
    const row = Math.min(Math.floor((y - data.top) / pitch), rows.length - 1);
    const number = rows[row].spans.findIndex(([from, to]) => from <= t && t < to);
    if (number < 0) return hide();
    span(row, number, event.clientX, event.clientY);
  }

  // Up and down go from node to node at the same time, left and right from state to state.
  function key(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === 'Escape') return hide();
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    const [right, down] = step;
    if (!data.rows) {
      const t = at.t + (right - down) * data.length / 100;
      return instant(Math.round(t), true, ...screen(xOf(Math.max(0, Math.min(t, data.length))), data.panelTop));
    }
    const from = (rows[at.row].spans[at.span] || [0])[0], row = Math.max(0, Math.min(at.row + down, rows.length - 1));
    const spans = rows[row].spans;
    const same = Math.max(0, spans.findLastIndex(span => span[0] <= from));
    const number = down ? same : Math.max(0, Math.min(at.span + right, spans.length - 1));
    span(row, number, ...screen(xOf(spans[number][0]), data.top + pitch * (row + 1)));
  }

  svg.addEventListener('pointermove', point);
  svg.addEventListener('pointerleave', hide);
  figure.addEventListener('keydown', key);
  figure.addEventListener('blur', hide);
}

for (const data of document.querySelectorAll('figure > script')) {
  explain(data.parentElement, JSON.parse(data.textContent));
}
