import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { watch } from "node:fs";
import { chmod, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { scaled, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withLock } from "../../../src/files/atomic/lock.ts";
import { buildProgram } from "../../support/build-program.ts";
import { largeText } from "../../support/large-text.ts";

let programs: TemporaryFolder;
let addKeys: string;
let rewrite: string;

beforeAll(async () => {
  programs = await temporaryFolder();
  // Some tests run them as another user.
  await chmod(programs.path, 0o755);
  [addKeys, rewrite] = await Promise.all([
    buildProgram("add-keys", programs.path),
    buildProgram("rewrite", programs.path),
  ]);
});
afterAll(() => programs[Symbol.asyncDispose]());

async function outcomeOf(child: ChildProcess): Promise<{ code: number | null; said: string }> {
  let said = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  await once(child, "close");
  return { code: child.exitCode, said };
}

const editors = scaled(10, 4);
test(`${editors} processes that edit one file at the same time: every edit is there, and the comments`, async () => {
  await using folder = await temporaryFolder();
  const edits = scaled(50);
  const file = await folder.write("settings.json", "{\n  // mine\n}\n");
  const outcomes = await Promise.all(
    Array.from({ length: editors }, (_, index) =>
      outcomeOf(spawn(process.execPath, [addKeys, file, `p${index}-`, String(edits)])),
    ),
  );
  expect(outcomes).toEqual(Array.from({ length: editors }, () => ({ code: 0, said: "" })));
  const text = await folder.read("settings.json");
  expect(text.startsWith("{\n  // mine\n")).toBe(true);
  const keys = Object.keys(JSON.parse(text.replace("// mine", "")) as object);
  const expected = Array.from({ length: editors }, (_, p) =>
    Array.from({ length: edits }, (_, i) => `p${p}-${i}`),
  ).flat();
  expect(keys.toSorted()).toEqual(expected.toSorted());
  expect(await readdir(folder.path)).toEqual(["settings.json"]);
}, 240_000);

/** Kills a writer while it takes or gives back its lock: at one of the changes of the lock's files. */
async function killWhileLocking(round: number): Promise<void> {
  await using folder = await temporaryFolder();
  const file = await folder.write("settings.json", largeText(0));
  const child = spawn(process.execPath, [rewrite, file], { stdio: "ignore" });
  const changes = watch(folder.path);
  let seen = 0;
  await new Promise<void>((resolve) => {
    changes.on("change", (_, name) => {
      if (String(name).includes(".lock")) seen += 1;
      if (seen > round % 9) resolve();
    });
  });
  child.kill("SIGKILL");
  changes.close();
  await once(child, "exit");
  // The first try gets the lock: it does not have to expire (10 s).
  expect(await withLock(file, async () => "ours", { timeout: 0 })).toBe("ours");
  expect((await readdir(folder.path)).filter((name) => name.includes(".lock"))).toEqual([]);
}

const lockKills = scaled(200, 12);
test(`a writer that was killed at one of ${lockKills} moments around its lock does not hold up the next one`, async () => {
  const atOnce = 4;
  for (let first = 0; first < lockKills; first += atOnce)
    await Promise.all(Array.from({ length: atOnce }, (_, index) => killWhileLocking(first + index)));
}, 240_000);

test("a write that the system cuts off in the middle leaves the old file", async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write("settings.json", "{}");
  // Blocks of 512 or 1024 bytes: in both cases less than the text and more than nothing.
  const child = spawn("sh", ["-c", 'ulimit -f 1000; exec "$@"', "sh", process.execPath, rewrite, file]);
  const { code } = await outcomeOf(child);
  expect(code).not.toBe(0);
  expect(await folder.read("settings.json")).toBe("{}");
});

test("a folder without write permission is reported, and the file in it is as it was", async () => {
  await using folder = await temporaryFolder();
  await chmod(folder.path, 0o755);
  const file = await folder.write("closed/settings.json", "{}");
  await chmod(join(folder.path, "closed"), 0o555);
  // Permissions do not bind root: there, the program runs as nobody.
  const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const outcome = await outcomeOf(spawn(process.execPath, [addKeys, file, "key"], user));
  expect(outcome).toEqual({
    code: 0,
    said: `internal: ${file} cannot be written: permission denied; Fairlead did not change it`,
  });
  expect(await folder.read("closed/settings.json")).toBe("{}");
  await chmod(join(folder.path, "closed"), 0o755);
});

const inSmallFileSystem = ["--user", "--map-root-user", "--mount", "sh", "-c"];
const canMount = spawnSync("unshare", [...inSmallFileSystem, "mount -t tmpfs none /mnt"]).status === 0;

test.runIf(canMount)("on a full disk the old file stays", async () => {
  await using folder = await temporaryFolder();
  await mkdir(join(folder.path, "disk"));
  const script = `mount -t tmpfs -o size=1m none "$1" && cd "$1" && printf '{}' > s.json && "$2" "$3" "$PWD/s.json" || true; cat s.json; ls`;
  const child = spawn("unshare", [
    ...inSmallFileSystem,
    script,
    "sh",
    join(folder.path, "disk"),
    process.execPath,
    rewrite,
  ]);
  const { said } = await outcomeOf(child);
  expect(said).toContain("the disk is full");
  expect(said.endsWith("{}s.json\n")).toBe(true);
});
