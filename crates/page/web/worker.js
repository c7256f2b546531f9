// The planner's thread. Each message is a question with a number; its answer has the same number.
'use strict';
let ready;

async function begin(base64) {
  const packed = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const bytes = await new Response(stream).arrayBuffer();
  wasm_bindgen.initSync({ module: await WebAssembly.compile(bytes) });
}

onmessage = async ({ data }) => {
  if (data.wasm) {
    ready = begin(data.wasm);
    ready.catch((error) => postMessage({ failed: String(error) }));
    return;
  }
  try {
    await ready;
    const begun = performance.now();
    const answer = data.bytes ? wasm_bindgen.open(data.bytes) : wasm_bindgen.ask(data.question);
    postMessage({ number: data.number, answer, took: performance.now() - begun });
  } catch (error) {
    // A panic, or no memory left.
    const sentence = `The planner has failed (${error}). Open the cluster again, or a smaller one.`;
    postMessage({ number: data.number, answer: JSON.stringify({ error: sentence }), took: 0, failing: true });
  }
};
