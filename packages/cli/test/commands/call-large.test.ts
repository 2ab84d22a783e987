import { spawnSync } from "node:child_process";
import { scaled, stdioServer, until } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { processesOf } from "../support/left-over.ts";
import { machine, userFile } from "../support/machine.ts";
import { program, runProcess } from "../support/process.ts";

test("a result that the reader of stdout does not read to its end ends the command quietly", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { big: stdioServer("large-result") } } });
  const line = `"${process.execPath}" "${program}" call big.write size=1000000 --json | head -n 2; echo "\${PIPESTATUS[0]}"`;
  const { stdout, stderr } = spawnSync("bash", ["-c", line], { cwd: here.project, env: here.env, encoding: "utf8" });
  expect({ stdout, stderr }).toEqual({ stdout: `{\n  "schemaVersion": 1,\n0\n`, stderr: "" });
  // The command does not wait for its server if its stdout is closed: the watchdog ends the server.
  await until(() => processesOf(here).length === 0);
});

describe("a large result arrives whole", () => {
  test.each([scaled(40_000_000, 2_000_000)])("of %i characters", async (size) => {
    await using here = await machine({ [userFile]: { mcpServers: { big: stdioServer("large-result") } } });
    const line = `${"0123456789".repeat(8).slice(0, 79)}\n`;
    const text = line.repeat(size / 80);
    const json = await runProcess(here, "call", "big.write", `size=${size}`, "--json");
    const { content, display } = JSON.parse(json.stdout) as { content: { text: string }[]; display: string };
    // Compared before `expect` sees them: it would print them.
    expect([json.code, json.stderr, content.length, content[0]?.text === text, `${display}\n` === text]).toEqual([
      0,
      "",
      1,
      true,
      true,
    ]);
    const plain = await runProcess(here, "call", "big.write", `size=${size}`);
    expect([plain.code, plain.stderr, plain.stdout === text]).toEqual([0, "", true]);
  });
});

test("a result that is nested very deeply is shown as far as it can be", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { big: stdioServer("large-result") } } });
  const json = await runProcess(here, "call", "big.nest", "size=20000", "--json");
  const { structuredContent, durationMs: _, display, ...document } = JSON.parse(json.stdout);
  expect({ code: json.code, stderr: json.stderr, ...document }).toEqual({
    code: 0,
    stderr: "",
    schemaVersion: 1,
    ok: true,
    server: "big",
    tool: "nest",
    content: [],
  });
  expect([JSON.stringify(structuredContent), display]).toEqual(
    expect.arrayContaining(Array(2).fill(expect.stringContaining("(nested too deeply to show)"))),
  );
  const plain = await here.run("call", "big.nest", "size=20000");
  expect([plain.code, plain.stderr, plain.stdout]).toEqual([0, "", `${display}\n`]);
});
