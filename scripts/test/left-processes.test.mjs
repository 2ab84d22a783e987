import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { processesOf } from "../left-processes.mjs";

test("a process that has detached itself is found by the folder in its environment, until it ends", async () => {
  const folder = mkdtempSync(join(tmpdir(), "left-processes-"));
  try {
    const command = ["-e", "process.stdout.write('up'); setInterval(() => {}, 1000)"];
    const env = { ...process.env, HOME: folder };
    const child = spawn(process.execPath, command, { detached: true, stdio: ["ignore", "pipe", "ignore"], env });
    await once(child.stdout, "data");
    expect(processesOf(folder)).toEqual([{ id: child.pid, command: expect.stringContaining("setInterval") }]);
    child.kill();
    await once(child, "exit");
    expect(processesOf(folder)).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
