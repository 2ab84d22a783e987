import { spawn } from "node:child_process";
import { once } from "node:events";
import { watch } from "node:fs";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { keepsPromise, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withLock } from "../../src/files/atomic/lock.ts";
import { updateText } from "../../src/files/atomic/update-text.ts";
import { readToolApprovals } from "../../src/policy/approvals.ts";
import { createLedger } from "../../src/policy/ledger/ledger.ts";
import { buildProgram } from "../support/build-program.ts";
import { largeText } from "../support/large-text.ts";
import { called } from "../support/ledger-sample.ts";
import { saved } from "./write-files.ts";

let programs: TemporaryFolder;
let writeFiles: string;

beforeAll(async () => {
  programs = await temporaryFolder();
  writeFiles = await buildProgram("write-files", programs.path, import.meta.dirname);
});
afterAll(() => programs[Symbol.asyncDispose]());

/** What must hold after the writer was killed. `done`: how many writes it had finished. */
const subjects: Readonly<Record<string, (folder: string, done: number) => Promise<void>>> = {
  async settings(folder, done) {
    const file = join(folder, "settings.json");
    const content = await readFile(file, "utf8");
    const { index } = JSON.parse(content) as { readonly index: number };
    expect(content === largeText(index)).toBe(true);
    expect(index).toBeGreaterThanOrEqual(done);
    // The killed writer held its lock. The first try gets it: it does not have to expire.
    expect(await withLock(file, async () => "ours", { timeout: 0 })).toBe("ours");
    expect(await updateText(file, () => "{}")).toBe("written");
    expect(await readdir(folder)).toEqual(["settings.json"]);
  },
  async state(folder, done) {
    // The newest comes first.
    const tools = (await readToolApprovals(folder)).map(({ tool }) => tool).toReversed();
    expect(tools).toEqual(tools.map((_, index) => saved(index)));
    expect(tools.length).toBeGreaterThanOrEqual(done);
    expect((await readdir(folder)).filter((name) => name.includes("corrupt"))).toEqual([]);
  },
  async ledger(folder, done) {
    const ledger = createLedger({ folder, keepArguments: () => false, now: Date.now });
    await ledger.write({ ...called, tool: "after" });
    const tools = (await ledger.read()).map(({ tool }) => tool);
    await ledger.close();
    // Entries that were confirmed are all there, in order, and a later entry is not lost with a torn one.
    expect(tools.at(-1)).toBe("after");
    expect(tools.slice(0, done)).toEqual(Array.from({ length: done }, (_, index) => saved(index)));
  },
};

test("a writer that is killed at any moment leaves the old content or the new one", {
  timeout: 3_600_000,
}, async () => {
  const kills = new Map<string, number>();
  await keepsPromise(
    {
      group: "writes",
      promise: "kill -9 in mid-write leaves settings, state and history whole, and loses nothing that was confirmed",
      whole: 1000,
      part: 9,
      together: 3,
      load: () => `3 writers at once; kills by file: ${[...kills].map((each) => each.join(" ")).join(", ")}`,
    },
    async (random, seed) => {
      const names = Object.keys(subjects);
      const subject = names[seed % names.length] ?? "settings";
      kills.set(subject, (kills.get(subject) ?? 0) + 1);
      await using here = await temporaryFolder();
      const folder = join(here.path, subject);
      await mkdir(folder, { mode: 0o700 });
      // The old content, if the first write is cut off.
      if (subject === "settings") await here.write("settings/settings.json", largeText(0));
      const child = spawn(process.execPath, [writeFiles, subject, folder], { stdio: ["ignore", "pipe", "inherit"] });
      const said = text(child.stdout);
      // Each write changes the folder several times. The writer dies at one of these changes, or a little later.
      let left = 8 + random(30);
      const changes = watch(folder);
      await new Promise<void>((resolve) => {
        changes.on("change", () => {
          left -= 1;
          if (left === 0) resolve();
        });
      });
      for (let turns = random(200); turns > 0; turns -= 1) await new Promise((resolve) => setImmediate(resolve));
      child.kill("SIGKILL");
      changes.close();
      await once(child, "exit");
      await subjects[subject]?.(folder, (await said).length);
    },
  );
});
