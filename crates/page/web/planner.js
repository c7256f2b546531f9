// Questions to the planner, which runs in a worker: the page never waits for it.
import { byId } from './dom.js';

let worker;
// Why there is none.
let broken = '';
const waiting = new Map();
let numbers = 0;
// How long the planner took for the last answer to each question, in milliseconds; for the curious and for tests.
export const took = {};

// For tests: how many questions have no answer yet.
function tell() {
  document.documentElement.dataset.waiting = waiting.size;
}

function giveUp(reason) {
  waiting.forEach(({ reject }) => reject(new Error(reason)));
  waiting.clear();
  tell();
}

function hear({ data }) {
  if (data.failed) return giveUp(data.failed);
  if (!waiting.has(data.number)) return undefined;
  const { resolve, reject, kind } = waiting.get(data.number);
  waiting.delete(data.number);
  tell();
  took[kind] = data.took;
  const answer = JSON.parse(data.answer);
  if ('error' in answer) reject(new Error(answer.error));
  else resolve(answer.ok);
  // Its memory can't be trusted any more: the next file gets another planner.
  if (data.failing) {
    worker.terminate();
    begin();
    giveUp('The planner has begun anew: open the cluster again.');
  }
  return undefined;
}

function begin() {
  worker = new Worker(URL.createObjectURL(new Blob([byId('worker').textContent], { type: 'text/javascript' })));
  worker.onmessage = hear;
  // Its script did not even begin.
  worker.onerror = () => {
    broken = 'This browser does not run the planner: another one may, or the plugin.';
    giveUp(broken);
  };
  worker.postMessage({ wasm: byId('wasm').textContent.trim() });
}
begin();

function send(kind, message, transfer = []) {
  return new Promise((resolve, reject) => {
    if (broken) throw new Error(broken);
    const number = ++numbers;
    waiting.set(number, { resolve, reject, kind });
    tell();
    worker.postMessage({ ...message, number }, transfer);
  });
}

export const ask = (question) => send(question.ask, { question: JSON.stringify(question) });
export const open = (bytes) => send('open', { bytes });

// A function that asks one question at a time, and leaves out those that newer ones have overtaken. Its promise ends with the last.
export function latest(act) {
  let running = null;
  let next;
  async function each() {
    try {
      while (next) {
        const now = next;
        next = undefined;
        try {
          await act(...now);
        } catch (error) {
          // A failure that a newer question has overtaken is nobody's.
          if (!next) throw error;
        }
      }
    } finally {
      running = null;
    }
  }
  return function run(...given) {
    next = given;
    running ??= each();
    return running;
  };
}
