// Loads the files of a bundle with V8's code cache: without it, compiling them takes half of a start. The cache lies in the bundle's
// folder, so that a changed cache needs the same rights as changed code. V8 takes a cache only with the flags under which it was
// written, so Node's options are part of a cache's name. The libraries are bundled with a copy of this file, and so is the single
// executable, which has files and cache inside.
"use strict";
const { isAscii } = require("node:buffer");
const { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } = require("node:fs");
const path = require("node:path");
const { Script } = require("node:vm");
const setFlag = (flag) => require("node:v8").setFlagsFromString(flag);

/** Milliseconds after the start at which the cache is written: later, V8 forgets the code that only a start runs. */
const writeDelay = 3000;
/** Programs with ever new options must not fill the folder. The command has a cache for each of its commands. */
const mostCaches = 64;
/** What a file of the bundle can use. It has no import(): with a code cache, Node does not know who imports. */
const given = "exports, require, module, __filename, __dirname, importModule";
const importModule = (id) => import(id);

/**
 * Returns a function that loads a file of the bundle.
 * @param {string} folder
 * @param {string} build identifies the bundle's text: V8 compares only its length
 * @param {string} name whose code is cached together: a command, or the library
 * @param {{ sibling?: (id: string) => unknown, ownsProcess?: boolean, files?: BundleFiles }} options `sibling` loads a module in another way
 *   and returns undefined for others; a library does not own the process: it leaves V8's flags alone; `files` are not in the folder if given
 * @typedef {{ read: (file: string) => Buffer, readCache: () => Map<string, Buffer>, writeCache?: (caches: Map<string, Buffer>) => void }} BundleFiles
 */
exports.createLoader = function createLoader(
  folder,
  build,
  name,
  { sibling = () => undefined, ownsProcess = true, files = filesIn(folder, build, name) } = {},
) {
  const cached = files.readCache();
  const loaded = new Map();
  let isNew = false;

  function load(file) {
    const loadedFile = loaded.get(file);
    if (loadedFile !== undefined) return loadedFile.module.exports;
    const filename = path.join(folder, file);
    const source = sourceText(files.read(file));
    const cachedData = cached.get(file);
    const script = new Script(`(function (${given}) {${source}\n})`, { filename, cachedData });
    // V8 keeps a copy.
    cached.delete(file);
    if (cachedData === undefined && files.writeCache) writeSoon();
    const module = { exports: {} };
    loaded.set(file, { module, script });
    script.runInThisContext()(module.exports, requireFrom, module, filename, folder, importModule);
    return module.exports;
  }

  function requireFrom(id) {
    if (id.startsWith("./")) return load(id.slice(2));
    return sibling(id) ?? (isSlow(id) ? loadWhenUsed(id) : require(id));
  }

  /** Every host of the library needs digests. */
  function isSlow(id) {
    return slow.has(id) && (ownsProcess || id !== "node:crypto");
  }

  function writeSoon() {
    if (isNew) return;
    isNew = true;
    // V8 drops the compiled code of functions that have not run for a while: those of the start would be missing in the cache.
    if (ownsProcess) setFlag("--no-flush-bytecode");
    setTimeout(write, writeDelay).unref();
    process.once("exit", write);
  }

  function write() {
    if (!isNew) return;
    isNew = false;
    process.off("exit", write);
    // A cache fits only the flags with which it was made.
    if (ownsProcess) setFlag("--flush-bytecode");
    // Also of the files that were cached: more of their functions have run.
    const caches = files.readCache();
    for (const [file, { script }] of loaded) caches.set(file, script.createCachedData());
    files.writeCache(caches);
  }

  return load;
};

/** A short text that tells options of V8 from others; empty without options. Options of Node with a path or a program are none of V8's. */
function optionsTag() {
  const words = [...process.execArgv, ...(process.env.NODE_OPTIONS || "").split(" ")];
  const options = words.filter((word) => /^--[\w-]+(?:=\w+)?$/.test(word)).join(" ");
  if (options === "") return "";
  let tag = 0;
  for (const character of options) tag = (Math.imul(tag, 31) + character.charCodeAt(0)) >>> 0;
  return `-${tag.toString(36)}`;
}

/** Modules of Node that take milliseconds to load, and that few commands use. */
const slow = new Set([
  "node:child_process",
  "node:crypto",
  "node:dns",
  "node:http",
  "node:https",
  "node:net",
  "node:worker_threads",
]);

/** Loads a module of Node when one of its properties is read. */
function loadWhenUsed(id) {
  let module;
  const load = () => (module ??= require(id));
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

/** The bundler writes most other characters as escapes, because Latin-1 is read faster; in template literals it leaves them. */
function sourceText(content) {
  return content.toString(isAscii(content) ? "latin1" : "utf8");
}

/** Files of a folder, with their cache in it. */
function filesIn(folder, build, name) {
  const cacheFolder = path.join(folder, "cache");
  const cacheName = `${build}-${process.version}-${process.arch}-${name.replaceAll(" ", "-")}${optionsTag()}`;
  const cacheFile = path.join(cacheFolder, cacheName);
  return {
    read: (file) => readFileSync(path.join(folder, file)),
    readCache: () => readCache(() => readFileSync(cacheFile)),
    writeCache: (caches) => writeCache(cacheFolder, cacheName, caches),
  };
}

/** A cache file is one line of JSON, `[[file, bytes], …]`, and then the data of these files. */
function readCache(read) {
  try {
    const content = read();
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

exports.readCache = readCache;

/** Returns the content of a cache file. */
function cacheContent(cached) {
  const index = JSON.stringify([...cached].map(([file, { length }]) => [file, length]));
  return Buffer.concat([Buffer.from(`${index}\n`), ...cached.values()]);
}

exports.cacheContent = cacheContent;

/** Where the folder is not writable, every start compiles. */
function writeCache(folder, name, cached) {
  const temporary = path.join(folder, `${process.pid}.tmp`);
  try {
    mkdirSync(folder, { recursive: true });
    if (readdirSync(folder).length >= mostCaches) return;
    writeFileSync(temporary, cacheContent(cached), { flush: true });
    renameSync(temporary, path.join(folder, name));
  } catch {
    try {
      rmSync(temporary, { force: true });
    } catch {
      // Node's permission model forbids that, too.
    }
  }
}
