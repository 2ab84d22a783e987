import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { memoryFolder } from "../memory-folder.mjs";

test("a folder that the person has chosen is kept", () => {
  expect(memoryFolder({ TMPDIR: "/somewhere" })).toBeUndefined();
});

test("the folder in memory, where the system has one, holds programs that run", ({ annotate }) => {
  const folder = memoryFolder({});
  if (folder === undefined) return void annotate("this system has no such folder");
  expect(statfsSync(folder).type).toBe(0x01021994);
  const own = mkdtempSync(join(folder, "memory-folder-"));
  try {
    writeFileSync(join(own, "program"), "#!/bin/sh\necho runs\n", { mode: 0o700 });
    expect(spawnSync(join(own, "program"), { encoding: "utf8" }).stdout).toBe("runs\n");
  } finally {
    rmSync(own, { recursive: true });
  }
});
