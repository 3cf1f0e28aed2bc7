// llama.cpp through node-llama-cpp, for scripts/compare: loads one GGUF file, then answers commands, one JSON line each.
//
//     node llama_cpp.mjs FILE.gguf THREADS
//
// It calls the addon beneath the package's public classes. `controlledEvaluate` takes 0.2 ms and more a call for queues,
// locks and sampling; the addon's `decodeBatch` is llama_decode and llama_synchronize in a worker thread, and the promise
// comes back when they have returned. The addon is not a public interface, so package.json pins the version.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { getLlama } from "node-llama-cpp";

const [file, threads] = [process.argv[2], Number(process.argv[3])];

// No limit of its own on threads: it would be a hint, and not the number asked for.
const llama = await getLlama({ gpu: false, build: "never", skipDownload: true, maxThreads: 0, logLevel: "error" });
const model = await llama.loadModel({ modelPath: file, gpuLayers: 0 });
const n_ctx = model.trainContextSize;
// A whole prompt is one batch. Flash attention and the type of the cache are left as they come.
const context = await model.createContext({ contextSize: n_ctx, batchSize: n_ctx, threads });
const addon = context._ctx;
const n_vocab = model.fileInfo.metadata.tokenizer.ggml.tokens.length;

const sampler = new llama._bindings.AddonSampler(model._model);
sampler.applyConfig({ temperature: 0 });

/** Runs `ids` after the first `past` tokens. Logits of the last position are computed, of the others not. */
async function forward(ids, past) {
  addon.initBatch(ids.length);
  const [row] = addon.addToBatch(0, past, Uint32Array.from(ids), Uint32Array.of(ids.length - 1));
  await addon.decodeBatch();
  return row;
}

/** Forgets all tokens but the first `past`. */
function rewind(past) {
  if (!addon.removeTokenCellsFromSequence(0, past, -1)) throw new Error(`cannot go back to ${past} tokens`);
}

const prompt = (length) => Array.from({ length }, (_, i) => (i * 7919 + 1) % n_vocab);

async function seconds(work) {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

/** Two to warm up, then `repeats` that count. `prepare` comes before each and is not timed. */
async function samples(repeats, prepare, work) {
  const taken = [];
  for (let i = 0; i < 2 + repeats; ++i) {
    prepare();
    taken.push(await seconds(work));
  }
  return taken.slice(2);
}

async function generate(length, cached) {
  rewind(0);
  const ids = [1];
  for (let i = 0; i < length; ++i) {
    if (!cached) rewind(0);
    const row = cached ? await forward(ids.slice(-1), i) : await forward(ids, 0);
    ids.push(await addon.sampleToken(row, sampler));
  }
  return ids;
}

const workloads = {
  async prompt({ length, repeats }) {
    const ids = prompt(length);
    return samples(repeats, () => rewind(0), () => forward(ids, 0));
  },
  async cached({ length, repeats }) {
    const ids = prompt(length + 1);
    rewind(0);
    await forward(ids.slice(0, length), 0);
    return samples(repeats, () => rewind(length), () => forward(ids.slice(length), length));
  },
  async recomputed_text({ length }) {
    return [await seconds(() => generate(length, false))];
  },
  async cached_text({ length }) {
    return [await seconds(() => generate(length, true))];
  },
};

/** The logits after `ids`, of which all but the last `fresh` go first. */
async function logits({ ids, fresh }) {
  const past = ids.length - fresh;
  rewind(0);
  if (past > 0) await forward(ids.slice(0, past), 0);
  const row = await forward(ids.slice(past), past);
  const [, , , pairs] = await addon.sampleToken(row, sampler, false, false, true);
  const values = new Array(n_vocab);
  for (let i = 0; i < pairs.length; i += 2) values[pairs[i]] = pairs[i + 1];
  return values;
}

function about() {
  const version = JSON.parse(readFileSync(new URL("node_modules/node-llama-cpp/package.json", import.meta.url))).version;
  const kernel = readFileSync("/proc/self/maps", "utf8").match(/libggml-cpu-(\w+)\.so/)?.[1];
  if (llama.gpu !== false) throw new Error("expected no GPU, found " + llama.gpu);
  if (context.currentThreads !== threads) throw new Error(`expected ${threads} threads, found ${context.currentThreads}`);
  return `llama.cpp ${llama.llamaCppRelease.release} in node-llama-cpp ${version}, ${kernel} kernels, flash attention ` +
    `${context.flashAttention}, threads: ${context.currentThreads}`;
}

const answers = {
  about,
  logits,
  time: (command) => workloads[command.workload](command),
};

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  let reply;
  try {
    reply = { result: await answers[command.do](command) };
  } catch (error) {
    reply = { error: error.message };
  }
  await new Promise((written) => process.stdout.write(JSON.stringify(reply) + "\n", written));
}
process.exit(0);  // the addon's own threads would hold the process for a while
