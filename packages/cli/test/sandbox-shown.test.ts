/** Where a server's sandbox is shown: the question before a call, and doctor. Without one, the server does not start. */

import { chmod } from "node:fs/promises";
import { dirname } from "node:path";
import { hasBubblewrap, programServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { machine, userFile } from "./support/machine.ts";
import { openTerminalHere } from "./support/terminal-here.ts";

const settings = {
  mcpServers: { s: programServer("evaluator"), plain: programServer("evaluator") },
  fairlead: { background: "off", servers: { s: { sandbox: "on" } } },
};

describe.runIf(hasBubblewrap("a server's sandbox where it is shown"))("a server in a sandbox", () => {
  test("is named by the question before a call, and by doctor", async () => {
    await using here = await machine({ [userFile]: settings });
    expect(await here.run("policy", "ask", "s.run")).toMatchObject({ code: 0 });
    await using terminal = openTerminalHere(here, "call", "s.run", "code=return 1");
    await terminal.until(/server: sandboxed: no network[\s\S]*Call it\? \[y\/N\]\s*$/);
    terminal.type("y\r");
    expect(await terminal.exitCode).toBe(0);
    const { stdout } = await here.run("doctor", "--json");
    const messages = JSON.parse(stdout).findings.map(({ message }: { readonly message: string }) => message);
    expect(messages).toEqual(expect.arrayContaining(["s: sandboxed: no network", "plain: not sandboxed"]));
  });
});

test.each([
  ["without bubblewrap", undefined, "bubblewrap (bwrap) is not installed", "Install bubblewrap"],
  [
    "with an old bubblewrap",
    '[ "$1" = --version ] && echo bubblewrap 0.7.0 && exit; echo "bwrap: Unknown option --disable-userns" >&2; exit 1',
    "bubblewrap 0.7.0 is older than 0.8.0",
    "Install bubblewrap",
  ],
  [
    "with namespaces that the system refuses",
    '[ "$1" = --version ] && echo bubblewrap 0.11.0 && exit; echo "bwrap: No permissions to create new namespace" >&2; exit 1',
    "this system refuses it: No permissions to create new namespace",
    "Allow user namespaces",
  ],
])("%s, doctor names the cause and the two ways out, and the server does not start", async (_, script, why, fix) => {
  await using here = await machine({
    [userFile]: settings,
    ...(script !== undefined && { "bin/bwrap": `#!/bin/sh\n${script}\n` }),
    "bin/other": "",
  });
  const bin = dirname(`${here.path}/bin/other`);
  if (script !== undefined) await chmod(`${bin}/bwrap`, 0o755);
  const options = { env: { PATH: bin } };
  const { stdout } = await here.runWith(options, "doctor", "--json");
  const { findings } = JSON.parse(stdout);
  const found = findings.find(({ group, server }: Record<string, unknown>) => group === "programs" && server === "s");
  expect(found).toMatchObject({
    severity: "problem",
    code: "sandbox_unavailable",
    message: expect.stringContaining(why),
    next: expect.stringContaining(fix),
  });
  expect(found.next).toContain('set "sandbox": "off" in fairlead.servers.s');
  const called = await here.runWith(options, "call", "s.run", "code=return 1", "--yes");
  expect(called.code).toBe(4);
  expect(called.stderr).toContain("must run in a sandbox");
  expect(called.stderr).toContain('set "sandbox": "off" in fairlead.servers.s');
});
