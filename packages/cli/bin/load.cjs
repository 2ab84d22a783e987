// Loads the files of the bundle with V8's code cache: without it, compiling them takes half of a start. The cache lies in the bundle's
// folder, one file for each command, so that a changed cache needs the same rights as changed code.
"use strict";
const { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } = require("node:fs");
const path = require("node:path");
const { Script } = require("node:vm");
const setFlag = (flag) => require("node:v8").setFlagsFromString(flag);

/** Milliseconds after the start at which the cache is written: later, V8 forgets the code that only a start runs. */
const writeDelay = 3000;

/**
 * Returns a function that loads a file of the bundle.
 * @param {string} folder
 * @param {string} build identifies the bundle's text: V8 compares only its length
 * @param {string} command whose code is cached together
 */
exports.createLoader = function createLoader(folder, build, command) {
  const cacheFolder = path.join(folder, "cache");
  const name = `${build}-${process.version}-${process.arch}-${command.replaceAll(" ", "-")}`;
  const cached = readCache(path.join(cacheFolder, name));
  const loaded = new Map();
  let isNew = false;

  function load(file) {
    const known = loaded.get(file);
    if (known !== undefined) return known.module.exports;
    const filename = path.join(folder, file);
    const source = readFileSync(filename, "utf8");
    const cachedData = cached.get(file);
    const script = new Script(`(function (exports, require, module, __filename, __dirname) {${source}\n})`, {
      filename,
      cachedData,
    });
    if (cachedData === undefined) writeSoon();
    const module = { exports: {} };
    loaded.set(file, { module, script });
    script.runInThisContext()(module.exports, requireFrom, module, filename, folder);
    return module.exports;
  }

  function requireFrom(id) {
    if (id.startsWith("./")) return load(id.slice(2));
    return slow.has(id) ? loadWhenUsed(id) : require(id);
  }

  function writeSoon() {
    if (isNew) return;
    isNew = true;
    // V8 drops the compiled code of functions that have not run for a while: those of the start would be missing in the cache.
    setFlag("--no-flush-bytecode");
    setTimeout(write, writeDelay).unref();
    process.once("exit", write);
  }

  function write() {
    if (!isNew) return;
    isNew = false;
    // A cache fits only the flags with which it was made.
    setFlag("--flush-bytecode");
    for (const [file, { script }] of loaded) if (!cached.has(file)) cached.set(file, script.createCachedData());
    writeCache(cacheFolder, name, cached);
  }

  return load;
};

/** Modules of Node that take milliseconds to load, and that few commands use. */
const slow = new Set(["node:child_process", "node:crypto", "node:http", "node:https", "node:worker_threads"]);

/** Loads a module of Node when one of its properties is read. */
function loadWhenUsed(id) {
  const load = () => require(id);
  return new Proxy(
    {},
    {
      get: (_, name) => load()[name],
      has: (_, name) => name in load(),
      ownKeys: () => Reflect.ownKeys(load()),
      // A property that the proxied object lacks must be configurable.
      getOwnPropertyDescriptor: (_, name) => ({
        ...Reflect.getOwnPropertyDescriptor(load(), name),
        configurable: true,
      }),
    },
  );
}

/** A cache file is one line of JSON, `[[file, bytes], …]`, and then the data of these files. */
function readCache(file) {
  try {
    const content = readFileSync(file);
    let at = content.indexOf(10) + 1;
    return new Map(
      JSON.parse(content.toString("latin1", 0, at)).map(([name, length]) => {
        at += length;
        return [name, content.subarray(at - length, at)];
      }),
    );
  } catch {
    return new Map();
  }
}

/** Where the folder is not writable, every start compiles. */
function writeCache(folder, name, cached) {
  const temporary = path.join(folder, `${process.pid}.tmp`);
  const index = JSON.stringify([...cached].map(([file, { length }]) => [file, length]));
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(temporary, Buffer.concat([Buffer.from(`${index}\n`), ...cached.values()]), { flush: true });
    renameSync(temporary, path.join(folder, name));
  } catch {
    rmSync(temporary, { force: true });
  }
}
