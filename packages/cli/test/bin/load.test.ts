import { execFile } from "node:child_process";
import { chmod, readdir, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { machine } from "../support/machine.ts";
import { runProcess } from "../support/process.ts";

const loader = fileURLToPath(new URL("../../bin/load.cjs", import.meta.url));
let folder: TemporaryFolder;

beforeEach(async () => {
  folder = await temporaryFolder();
  await write("one");
});
afterEach(() => folder[Symbol.asyncDispose]());

/** A bundle of two files; one has characters beyond ASCII. */
async function write(word: string): Promise<void> {
  const main = `const { hash } = require("./other.cjs"); exports.run = () => console.log("${word}", hash("x"), __filename);`;
  const other = `const { createHash } = require("node:crypto");
    exports.hash = (text) => \`\${createHash("sha256").update(text).digest("hex").slice(0, 4)} ›\`;`;
  await writeFile(join(folder.path, "main.cjs"), main);
  await writeFile(join(folder.path, "other.cjs"), other);
}

interface RunOptions {
  readonly command?: string;
  readonly options?: readonly string[];
  /** The user who runs the command. Default: the user who runs the tests. */
  readonly uid?: number | undefined;
}

async function run(build: string, { command = "mcp list", options = [], uid }: RunOptions = {}): Promise<string> {
  const given = [folder.path, build, command].map((word) => JSON.stringify(word)).join(", ");
  const script = `require(${JSON.stringify(loader)}).createLoader(${given})("main.cjs").run()`;
  const { stdout } = await promisify(execFile)(process.execPath, [...options, "-e", script], { uid, cwd: folder.path });
  return stdout;
}

const printed = (word: string): string => `${word} 2d71 › ${join(folder.path, "main.cjs")}\n`;
const cacheFolder = (): string => join(folder.path, "cache");
const cacheFiles = (): Promise<string[]> => readdir(cacheFolder());

test("the first run of a command writes its code cache, and later runs keep it", async () => {
  expect(await run("b1")).toBe(printed("one"));
  const [file = ""] = await cacheFiles();
  expect(file).toBe(`b1-${process.version}-${process.arch}-mcp-list`);
  const { ino } = await stat(join(cacheFolder(), file));
  expect(await run("b1")).toBe(printed("one"));
  expect(await cacheFiles()).toEqual([file]);
  expect((await stat(join(cacheFolder(), file))).ino).toBe(ino);
});

test("options of V8, with which the cache of others does not fit, have a cache of their own", async () => {
  await run("b1");
  const [without] = await cacheFiles();
  const options = ["--max-old-space-size=100"];
  expect(await run("b1", { options })).toBe(printed("one"));
  const files = await cacheFiles();
  expect(files).toEqual([without, expect.stringMatching(`^${without}-\\w+$`)]);
  expect(await run("b1", { options })).toBe(printed("one"));
  expect(await cacheFiles()).toEqual(files);
});

test("the code of another build is not taken from the cache, though it is as long", async () => {
  expect(await run("b1")).toBe(printed("one"));
  await write("two");
  expect(await run("b2")).toBe(printed("two"));
});

test("a cache that is cut off, or is none, costs time and nothing else", async () => {
  await run("b1");
  const [name = ""] = await cacheFiles();
  const file = join(cacheFolder(), name);
  await truncate(file, (await readFile(file)).length - 100);
  expect(await run("b1")).toBe(printed("one"));
  await writeFile(file, "no cache");
  expect(await run("b1")).toBe(printed("one"));
});

/** A user without rights of its own. Root could write into any folder. */
const plainUser = process.getuid?.() === 0 ? 65_534 : undefined;

test.skipIf(process.platform === "win32")(
  "where the folder is not writable, the command runs without a cache",
  async () => {
    await chmod(folder.path, 0o555);
    expect(await run("b1", { uid: plainUser })).toBe(printed("one"));
    await chmod(folder.path, 0o755);
    expect(await readdir(folder.path)).toEqual(["main.cjs", "other.cjs"]);
  },
);

test("characters beyond ASCII in the command's own bundle are printed as they are written", async () => {
  await using here = await machine();
  const { stdout } = await runProcess(here, "tools", "demo");
  expect(stdout).toContain("statistics(text: string) → {");
});
