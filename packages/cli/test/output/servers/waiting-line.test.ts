import { rm } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { type Machine, machine, userFile } from "../../support/machine.ts";
import { pathOf, shellProgram } from "../../support/path-program.ts";
import { openTerminal } from "../../support/terminal.ts";
import { openTerminalHere } from "../../support/terminal-here.ts";

/** With an `npx` that says something, waits for a file and then is a server. */
async function withSlowServer(): Promise<Machine> {
  const here = await machine();
  const { command, args } = stdioServer("slow-start", join(here.path, "gate"));
  const server = [command, ...args].map((word) => `"${word}"`).join(" ");
  await here.write(userFile, { mcpServers: { big: { command: "npx", args: ["big@1.2.3"] } } });
  const hostile = "\\033[2Jadded 1 package";
  await shellProgram(here, "programs/npx", `printf '${hostile}\\n\\n' >&2\nexec ${server}`);
  return { ...here, env: { ...here.env, PATH: pathOf(here, "programs"), FAIRLEAD_SECRET_STORE: "file" } };
}

const downloading = /^big: downloading \(\d+ s\) {2}␛\[2Jadded 1 package$/m;
const commands = ["mcp list", "mcp test big", "doctor", "tools", "call big.echo text=1"];

test(`on its first run a package is downloading, with what its launcher says: ${commands.join(", ")}`, async () => {
  // Side by side: the line is there after a second.
  const seen = commands.map(async (words) => {
    await using here = await withSlowServer();
    await using terminal = openTerminalHere(here, ...words.split(" "));
    await terminal.until(downloading);
    await here.write("gate", "");
    return [words, await terminal.exitCode, terminal.screen().includes("downloading")];
  });
  expect(await Promise.all(seen)).toEqual(commands.map((words) => [words, 0, false]));
});

test("once it has run, it is connecting", async () => {
  await using here = await withSlowServer();
  await here.write("gate", "");
  expect((await here.runWith({ env: here.env }, "mcp", "list")).code).toBe(0);
  await rm(join(here.path, "gate"));
  await using terminal = openTerminal(here, "mcp", "list");
  await terminal.until(/^big: connecting \(\d+ s\)$/m);
  await here.write("gate", "");
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen()).not.toContain("connecting");
});

test("elsewhere than on a terminal nothing is said", async () => {
  await using here = await withSlowServer();
  await here.write("gate", "");
  const { code, stderr } = await here.runWith({ env: here.env }, "mcp", "list");
  expect(code).toBe(0);
  expect(stderr).not.toMatch(/downloading|connecting/);
});
