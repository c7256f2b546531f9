// Small helpers around the document. Text of a cluster is only ever set as text.

export const byId = (id) => document.getElementById(id);

// An element with properties and children; strings become text.
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function list(parent, items) {
  parent.replaceChildren(...items.map((item) => element('li', {}, item)));
}

// A command with a button that copies it.
export function command(text) {
  const copy = element('button', { type: 'button', ariaLabel: `Copy ${text}` }, 'Copy');
  copy.addEventListener('click', () => copyText(copy, text));
  return element('div', { className: 'command' }, element('code', {}, text), copy);
}

export async function copyText(button, text) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without the permission, as in a file: by the old way.
    const area = element('textarea', { value: text });
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  button.textContent = 'Copied';
  setTimeout(() => { button.textContent = before; }, 1200);
}

export function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = element('a', { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// A picture of the plugin in a shadow of its own. Its style sheet is adopted: the page's policy allows no other.
export function picture(svg, more = '') {
  let style = '';
  const plain = svg.replace(/<style>([^]*?)<\/style>/, (_, css) => { style = css; return ''; });
  const parsed = new DOMParser().parseFromString(plain, 'image/svg+xml').documentElement;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`${style}\n${more}svg{display:block;width:100%;height:auto}`);
  const host = element('div', { className: 'picture' });
  const shadow = host.attachShadow({ mode: 'open' });
  shadow.adoptedStyleSheets = [sheet];
  shadow.append(document.importNode(parsed, true));
  return host;
}

// Runs something that a person has asked for; its failure is a sentence, at the top of the page unless there is a nearer place.
export async function attempt(act, tell = atTop) {
  tell('');
  try {
    await act();
  } catch (error) {
    tell(error.message);
  }
}

export function atTop(sentence) {
  const problem = byId('problem');
  problem.textContent = sentence;
  problem.hidden = !sentence;
}
