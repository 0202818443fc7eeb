// Loads traces into Perfetto's trace processor, compiled to WebAssembly, and queries
// them. Reads lines of JSON, {"trace": FILE, "queries": [SQL, ...]}, and answers each
// with a line: for each query, an array of rows, which are arrays.
//
// node traceprocessor.mjs DIRECTORY
//
// The directory holds trace_processor.wasm, engine_bundle.node.js, which is made for
// a worker of a browser, and engine.mjs.

import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {createInterface} from 'node:readline';
import vm from 'node:vm';

const directory = process.argv[2];
const chunk = 32 << 20; // a request has less than 64 MiB

// worker starts the WebAssembly behind a port.
async function worker(port) {
  globalThis.self = globalThis;
  globalThis.WorkerGlobalScope ??= function() {};
  globalThis.location ??= {href: pathToFileURL(directory).href + '/'};
  globalThis.traceProcessor = {wasm: readFileSync(join(directory, 'trace_processor.wasm'))};
  let source = readFileSync(join(directory, 'engine_bundle.node.js'), 'utf8');
  const replace = (from, to) => {
    if (!source.includes(from)) throw new Error('engine_bundle.node.js lacks ' + from);
    source = source.replace(from, to);
  };
  replace('this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;');
  replace('locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: globalThis.traceProcessor.wasm,');
  replace('const wasmBridge = new wasm_bridge_1.WasmBridge();',
      'const wasmBridge = globalThis.traceProcessor.bridge = new wasm_bridge_1.WasmBridge();');
  vm.runInThisContext(source, {filename: 'engine_bundle.node.js'});
  const bridge = globalThis.traceProcessor.bridge;
  while (!bridge.reqBufferAddr) await new Promise((later) => setTimeout(later, 5)); // that of its memory, when it is ready
  bridge.initialize(port);
}

const log = console.warn;
console.log = console.info = () => {};
console.warn = (...words) => {
  // The decoder is older than the processor.
  if (!/Unexpected QueryResult field/.test(String(words[0]))) log(...words);
};

const {EngineBase} = await import(pathToFileURL(join(directory, 'engine.mjs')).href);

class Engine extends EngineBase {
  mode = 'WASM';
  id = 'reprise';
  constructor(port) {
    super();
    this.port = port;
    port.onmessage = (m) => { if (m.data instanceof Uint8Array) this.onRpcResponseBytes(m.data); };
  }
  rpcSendRequestBytes(data) { this.port.postMessage(data); }
}

const {port1, port2} = new MessageChannel();
const engine = new Engine(port2);
await worker(port1);

const plain = (key, value) => typeof value === 'bigint' ? String(value) : value;

// rows returns the rows that queries give of the trace in a file.
async function rows({trace, queries}) {
  await engine.resetTraceProcessor({cropTrackEvents: false, ingestFtraceInRawTable: true,
    analyzeTraceProtoContent: false, ftraceDropUntilAllCpusValid: false});
  const bytes = new Uint8Array(readFileSync(trace));
  for (let at = 0; at < bytes.length; at += chunk) await engine.parse(bytes.subarray(at, at + chunk));
  await engine.notifyEof();
  const results = [];
  for (const sql of queries) {
    const result = await engine.query(sql);
    if (result.error()) throw new Error(sql + ': ' + result.error());
    const rows = [];
    for (const row = result.iter({}); row.valid(); row.next()) rows.push(result.columns().map((name) => row.get(name)));
    results.push(rows);
  }
  return results;
}

for await (const line of createInterface({input: process.stdin})) {
  process.stdout.write(JSON.stringify(await rows(JSON.parse(line)), plain) + '\n');
}
process.exit(0);
