// Policies to begin with.
import { element } from './dom.js';

const EXAMPLES = {
  'Canary, then all': `waves:
- upTo: 1
  bakeSeconds: 120
- upTo: 25%
  bakeSeconds: 300
- {}
onFailure:
  action: RollBack
  maxRestarts: 2
  availableWithinSeconds: 300
`,
  'Each wave after approval': `waves:
- upTo: 10%
  needsApproval: true
- needsApproval: true
`,
  'Drain each node first': `turn:
  cordon: true
  gates: [drained]
  timeoutSeconds: 1800
drain: {}
`,
  'Wait for a backup': `turn:
  gates: [backup]
  timeoutSeconds: 900
`,
  'Pull images ahead': `pull:
  parallel: 20%
`,
  'Change images in place': `inPlace: IfPossible
`,
};

// A list of them, which puts the chosen one into a text.
export function examples(id, put) {
  const list = element('select', { id, ariaLabel: 'An example' }, element('option', { value: '' }, 'An example…'), ...Object.keys(EXAMPLES).map((name) => element('option', {}, name)));
  list.addEventListener('change', () => {
    if (list.value) put(EXAMPLES[list.value]);
    list.value = '';
  });
  return list;
}
