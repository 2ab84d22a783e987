// The first file of the single executable. The files of the bundle are the executable's assets: nothing is unpacked, except the
// keychain's native code, which the system loads only from a file.
"use strict";
const { getRawAsset } = require("node:sea");
const path = require("node:path");
const { createLoader, readCache } = require("./load.cjs");
const { start } = require("./start.cjs");

const asset = (name) => Buffer.from(getRawAsset(name));
const answers = JSON.parse(asset("answers").toString());
const files = { read: (file) => asset(file), readCache: () => readCache(() => asset("cache")) };
/** The paths of the bundle's files in stack traces. No such files exist. */
const folder = process.execPath;

/** Returns modules that the bundle needs in another form here. */
function sibling(id) {
  if (id === "node:worker_threads") return threads();
  return id === "@napi-rs/keyring" ? nativeKeyring() : undefined;
}

/** The code of the bundle's threads is in assets, too. */
function threads() {
  const { Worker, ...others } = require("node:worker_threads");
  class AssetWorker extends Worker {
    constructor(file, options) {
      const code = asset(path.basename(file.pathname));
      super(new URL(`data:text/javascript;base64,${code.toString("base64")}`), options);
    }
  }
  return { ...others, Worker: AssetWorker };
}

/**
 * Loads the keychain's native code from a file in the state folder. Undefined if the executable was built without it, or if the file
 * cannot be written: secrets are then in the encrypted file.
 */
function nativeKeyring() {
  const { createHash } = require("node:crypto");
  const { mkdirSync, readFileSync, renameSync, writeFileSync } = require("node:fs");
  const home = process.env.FAIRLEAD_HOME || path.join(require("node:os").homedir(), ".fairlead");
  try {
    const code = asset("keyring.node");
    const native = path.join(home, "native");
    const name = `keyring-${createHash("sha256").update(code).digest("hex").slice(0, 16)}.node`;
    const file = path.join(native, name);
    if (!holds(file, code)) {
      mkdirSync(native, { recursive: true, mode: 0o700 });
      const temporary = path.join(native, `${process.pid}.tmp`);
      writeFileSync(temporary, code, { mode: 0o600 });
      renameSync(temporary, file);
    }
    const module = { exports: {} };
    process.dlopen(module, file);
    return module.exports;
  } catch {
    return undefined;
  }

  /** A file that another program has changed is not loaded. */
  function holds(path, content) {
    try {
      return readFileSync(path).equals(content);
    } catch {
      return false;
    }
  }
}

start(answers, (command) => createLoader(folder, answers.build, command, { files, sibling }));
