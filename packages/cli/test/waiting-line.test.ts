import { rm } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { pathOf, shellProgram } from "./doctor/path-program.ts";
import { type Machine, machine, userFile } from "./machine.ts";
import { openTerminal } from "./terminal.ts";

/** With an `npx` that says something, waits for a file and then is a server. */
async function withSlowServer(): Promise<Machine> {
  const here = await machine();
  const { command, args } = stdioServer("slow-start", join(here.path, "gate"));
  await here.write(userFile, { mcpServers: { big: { command: "npx", args: ["big@1.2.3"] } } });
  const hostile = "\\033[2Jadded 1 package";
  await shellProgram(here, "programs/npx", `printf '${hostile}\\n\\n' >&2\nexec ${command} ${args.join(" ")}`);
  return { ...here, env: { ...here.env, PATH: pathOf(here, "programs"), FAIRLEAD_SECRET_STORE: "file" } };
}

test.each([["mcp", "list"], ["mcp", "test", "big"], ["doctor"], ["tools"], ["call", "big.echo", "text=1"]])(
  "on its first run a package is downloading, with what its launcher says: %s %s",
  async (...argv) => {
    await using here = await withSlowServer();
    const terminal = openTerminal(here, ...argv);
    await terminal.until(/^big: downloading \(\d+ s\) {2}␛\[2Jadded 1 package$/m);
    await here.write("gate", "");
    expect(await terminal.exitCode).toBe(0);
    expect(terminal.screen()).not.toContain("downloading");
  },
);

test("once it has run, it is connecting", async () => {
  await using here = await withSlowServer();
  await here.write("gate", "");
  expect(await openTerminal(here, "mcp", "list").exitCode).toBe(0);
  await rm(join(here.path, "gate"));
  const terminal = openTerminal(here, "mcp", "list");
  await terminal.until(/^big: connecting \(\d+ s\)$/m);
  await here.write("gate", "");
  expect(await terminal.exitCode).toBe(0);
});

test("elsewhere than on a terminal nothing is said", async () => {
  await using here = await withSlowServer();
  await here.write("gate", "");
  const { stderr } = await here.runWith({ env: here.env }, "mcp", "list");
  expect(stderr).not.toMatch(/downloading|connecting/);
});
