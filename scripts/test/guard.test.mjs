// Tests the guard with a small test run in which each test leaves something else behind.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");
const sources = fileURLToPath(new URL("../../packages/test-servers/src", import.meta.url));
const imports = `
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, unwatchFile, watch, watchFile } from "node:fs";
import { createServer, connect } from "node:net";
import { tmpdir } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { temporaryFolder } from ${JSON.stringify(join(sources, "temporary-folder.ts"))};
const node = (code, options) => spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "inherit"], ...options });
const listening = async (server) => { await once(server.listen(0, "127.0.0.1"), "listening"); return server; };
`;
/** Tests that leave something behind: the code of each test, and the guard's name for the leftover. */
const planted = {
  "a rejection": ["void Promise.reject(new Error('planted'));", /an unhandled rejection: Error: planted/],
  "a rejection in the next turn": [
    "setImmediate(() => void Promise.reject(new Error('planted')));",
    /an unhandled rejection: Error: planted/,
  ],
  "an exception": ["setImmediate(() => { throw new Error('planted'); });", /an uncaught exception: Error: planted/],
  "a timer": ["globalThis.setTimeout(() => {}, 50_000);", /a timer: setTimeout of 50000 ms/],
  "a timer that keeps nothing alive": [
    "globalThis.setTimeout(() => {}, 50_000).unref();",
    /a timer: setTimeout of 50000 ms/,
  ],
  "an interval": ["setInterval(() => {}, 50_000);", /a timer: setInterval of 50000 ms/],
  "a wait": [
    "void wait(50_000, undefined, { ref: false });",
    /a timer: setTimeout of node:timers\/promises of 50000 ms/,
  ],
  "a process": ["left.push(node('setInterval(() => {}, 1000)'));", /a process: [0-9]+ .*setInterval/],
  "what a process has started": [
    `const child = node("console.log(require('child_process').spawn('sleep', ['1000'], { stdio: 'ignore' }).pid); process.exit()", { detached: true });
    const [line] = await Promise.all([once(child.stdout, "data"), once(child, "close")]);
    left.push({ kill: () => process.kill(Number(String(line[0]))) });`,
    /a process: [0-9]+ sleep 1000/,
  ],
  "a worker thread": [
    `const worker = new Worker("setInterval(() => {}, 1000)", { eval: true });
    left.push({ close: () => worker.terminate() });`,
    /a worker thread: [0-9]+/,
  ],
  "a worker thread that keeps nothing alive": [
    `const worker = new Worker("setInterval(() => {}, 1000)", { eval: true });
    worker.unref();
    left.push({ close: () => worker.terminate() });`,
    /a worker thread: [0-9]+/,
  ],
  "a file watcher": ["left.push(watch(tmpdir()));", /a file watcher: watch of .*guard-/],
  "a file watcher that keeps nothing alive": [
    "left.push(watch(tmpdir(), { persistent: false }));",
    /a file watcher: watch of .*guard-/,
  ],
  "a watched file": [
    `watchFile("some-file", { persistent: false }, () => {});
    left.push({ close: () => unwatchFile("some-file") });`,
    /a file watcher: watchFile of some-file/,
  ],
  "a server": ["left.push(await listening(createServer()));", /a listening server: 127[.]0[.]0[.]1/],
  "a socket": [
    `const server = await listening(createServer());
    const socket = connect(server.address().port, "127.0.0.1");
    await once(socket, "connect");
    left.push(socket);
    server.close();`,
    /a socket: connected to 127[.]0[.]0[.]1/,
  ],
  "a folder": ["left.push(await temporaryFolder());", /a temporary folder: /],
  "a file in a removed folder": [
    `const folder = await temporaryFolder();
    await folder[Symbol.asyncDispose]();
    mkdirSync(folder.path);
    left.push(folder);`,
    /a file: written into .* after it was removed/,
  ],
};
const innocent = {
  "what it closes": `{
    await using folder = await temporaryFolder();
    const server = await listening(createServer());
    const socket = connect(server.address().port, "127.0.0.1");
    await once(socket, "connect");
    clearTimeout(globalThis.setTimeout(() => {}, 50_000));
    const child = node("");
    await once(child, "close");
    void new Worker("setInterval(() => {}, 1000)", { eval: true }).terminate();
    watch(folder.path).close();
    watchFile("other-file", () => {});
    unwatchFile("other-file");
    socket.destroy();
    server.close();
    await folder.write("x", "y");
  }`,
  "a rejection that is handled late": "const late = Promise.reject(new Error('planted')); late.catch(() => {});",
};
/** Removes `GUARD_WAIT`, which another file of the same process may have set. */
const usualWait = "delete process.env.GUARD_WAIT;";
const cleaning = `
const left = [];
afterAll(async () => {
  for (const each of left) { each.kill?.("SIGKILL"); each.destroy?.(); each.close?.(); await each[Symbol.asyncDispose]?.(); }
});
`;
const sharing = `
const left = [];
beforeAll(async () => void left.push(await listening(createServer())));
afterAll(() => { for (const each of left) each.destroy?.() ?? each.close(); });
test("to what is shared", async () => {
  left.push(connect(left[0].address().port, "127.0.0.1"));
  await once(left[1], "connect");
});
test("a thread and a watcher, beside what is shared", () => {
  const worker = new Worker("setInterval(() => {}, 1000)", { eval: true });
  left.push({ close: () => worker.terminate() }, watch(tmpdir()));
});
test("a timer that keeps nothing alive, beside what is shared", () => void globalThis.setTimeout(() => {}, 30_000).unref());
`;
let folder;
/** Messages of failed tests, by title. */
let results;
/** Failures at the end of a file, by file. */
let ends;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "guard-")));
  const bodies = Object.fromEntries(Object.entries(planted).map(([name, [body]]) => [name, body]));
  // The guard waits for leftovers that may still end. None of these ends, so a short wait is enough.
  writeFileSync(
    join(folder, "leaves.test.ts"),
    [imports, "process.env.GUARD_WAIT = '100';", cleaning, testsOf(bodies)].join("\n"),
  );
  writeFileSync(join(folder, "innocent.test.ts"), [imports, usualWait, testsOf(innocent)].join("\n"));
  writeFileSync(
    join(folder, "file.test.ts"),
    `${imports}\nbeforeAll(() => void globalThis.setTimeout(() => {}, 40_000).unref());\ntest("nothing", () => {});`,
  );
  writeFileSync(join(folder, "shares.test.ts"), [imports, usualWait, sharing].join("\n"));
  const config = {
    globals: true,
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    setupFiles: [join(sources, "guard/setup.ts")],
  };
  writeFileSync(join(folder, "vitest.config.mjs"), `export default { test: ${JSON.stringify(config)} };`);
  const report = join(folder, "report.json");
  const { NODE_OPTIONS: _, ...env } = process.env;
  spawnSync(process.execPath, [vitest, "run", "--root", folder, "--reporter=json", `--outputFile=${report}`], {
    // Everything that the tests leave behind is removed with this folder.
    env: { ...env, TMPDIR: folder },
  });
  const files = JSON.parse(readFileSync(report, "utf8")).testResults;
  results = new Map(
    files.flatMap(({ assertionResults }) =>
      assertionResults.map(({ title, failureMessages }) => [title, failureMessages.join("\n")]),
    ),
  );
  ends = new Map(files.map(({ name, message }) => [basename(name), message]));
});

function testsOf(bodies) {
  const tests = Object.entries(bodies).map(([name, body]) => `test(${JSON.stringify(name)}, async () => { ${body} });`);
  return tests.join("\n");
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(Object.entries(planted))("%s that is left behind fails the test", (name, [, message]) => {
  expect(results.get(name)).toMatch(message);
});

test.each(Object.keys(innocent))("%s fails no test", (name) => {
  expect(results.get(name)).toBe("");
});

test("the failure says where the thing was made", () => {
  expect(results.get("a timer")).toMatch(/leaves[.]test[.]ts:[0-9]+/);
});

test("what may belong to something that the file shares is looked for at the end of the file", () => {
  expect(results.get("to what is shared")).toBe("");
  expect(results.get("a timer that keeps nothing alive, beside what is shared")).toBe("");
  expect(results.get("a thread and a watcher, beside what is shared")).toBe("");
  expect(ends.get("shares.test.ts")).toMatch(/a timer: setTimeout of 30000 ms, made in "a timer that keeps/);
  expect(ends.get("shares.test.ts")).not.toMatch(/a socket|a worker thread|a file watcher/);
});

test("what is made before the tests is looked for at the end of the file", () => {
  expect(results.get("nothing")).toBe("");
  expect(ends.get("file.test.ts")).toMatch(/a timer: setTimeout of 40000 ms/);
});
