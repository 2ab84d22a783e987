import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { programServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { machine, userFile } from "../../support/machine.ts";

async function machineWithVault(body: string) {
  const here = await machine({
    [userFile]: {
      mcpServers: { s: { ...programServer("well-behaved"), env: { TOKEN: "${command:vault read token}" } } },
    },
    "bin/vault": `#!/bin/sh\necho run >> ${"$HOME"}/runs\n${body}\n`,
  });
  await chmod(join(here.path, "bin/vault"), 0o755);
  const env = { PATH: `${join(here.path, "bin")}:${here.env["PATH"] ?? ""}` };
  return {
    run: (...argv: readonly string[]) => here.runWith({ env }, ...argv),
    runs: async () => (await here.read("home/runs").catch(() => "")).split("\n").length - 1,
    [Symbol.asyncDispose]: () => here[Symbol.asyncDispose](),
  };
}

test("only connecting runs the command; lists, details and completion do not", async () => {
  await using here = await machineWithVault("echo s3cret-of-the-vault");
  const connected = await here.run("mcp", "test", "s");
  expect({ code: connected.code, runs: await here.runs() }).toEqual({ code: 0, runs: 1 });

  const lists = [
    ["mcp", "list", "--cached"],
    ["mcp", "list", "--cached", "--json"],
    ["mcp", "get", "s"],
    ["mcp", "get", "s", "--json"],
    ["tools", "s"],
    ["tools", "s", "--json"],
    ["settings", "validate"],
    ["mcp", "auth"],
  ];
  for (const words of lists) {
    const { code, stdout, stderr } = await here.run(...words);
    expect({ words, code, leaks: `${stdout}${stderr}`.includes("s3cret") }).toEqual({ words, code: 0, leaks: false });
  }
  expect(await here.runs()).toBe(1);
  expect((await here.run("mcp", "get", "s")).stdout).toContain(
    "secrets      printed by vault read token, which runs when Fairlead connects",
  );
  expect(JSON.parse((await here.run("mcp", "get", "s", "--json")).stdout)).toMatchObject({
    secrets: [],
    commands: ["vault read token"],
  });
});

test("a program that fails stops the server, and doctor names a program that is not there", async () => {
  await using here = await machineWithVault("echo hidden; echo locked >&2; exit 4");
  expect(await here.run("mcp", "test", "s")).toMatchObject({
    code: 3,
    stderr: expect.stringContaining(`"s" has no value for a secret: vault exited with code 4 (stderr: locked)`),
  });
  expect((await here.run("doctor")).stdout).toContain(`"s" gets a secret from vault (`);
});
