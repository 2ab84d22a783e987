import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { type ReadSecret, withCommands } from "../../src/connect/command-secret.ts";
import { commandWords } from "../../src/settings/define/expand.ts";
import { createWorld, said, serverOf } from "../support/load-settings.ts";
import { manualClock } from "../support/manual-clock.ts";
import { connection, script } from "./connection.ts";

const none: ReadSecret = async () => undefined;

/** A folder with the program `vault`, and a function that reads `${command:vault …}`. */
async function withVault(body: string) {
  const folder = await temporaryFolder();
  const at = (name: string): string => join(folder.path, name);
  await folder.write("bin/vault", `#!/bin/sh\n${body}\n`);
  await chmod(at("bin/vault"), 0o755);
  const clock = manualClock();
  const place = {
    environment: {
      env: { PATH: `${at("bin")}:/bin:/usr/bin`, COUNT: at("count") },
      home: folder.path,
      platform: process.platform,
    },
    root: at("work"),
    trusted: true,
  };
  return {
    at,
    clock,
    place,
    read: withCommands(none, place, clock),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    (value) => ({ value }),
    ({ code, message, next }: { code: string; message: string; next?: string }) => ({ code, message, next }),
  );
}

describe("what a program prints", () => {
  test("is the value without its last newline; the program gets its words without a shell, and runs once", async () => {
    await using vault = await withVault(`echo run >> "$COUNT"; printf '[%s]\\n' "$@"; printf '\\n'`);
    const line = `command:vault read 'a  b' "c'd" \${HOME} *  e`;
    const [first, second] = await Promise.all([vault.read(line), vault.read(line)]);
    expect(first).toBe("[read]\n[a  b]\n[c'd]\n[${HOME}]\n[*]\n[e]\n");
    expect(second).toBe(first);
    expect(await vault.read("command:vault other")).toBe("[other]\n");
    expect(await readFile(vault.at("count"), "utf8")).toBe("run\nrun\n");
    // Another connection asks the program again.
    await withCommands(none, vault.place)("command:vault other");
    expect(await readFile(vault.at("count"), "utf8")).toBe("run\nrun\nrun\n");
  });

  test("is not used if the program fails: its name, the exit code and one line of stderr are told", async () => {
    await using vault = await withVault(
      `echo printed-secret; echo first >&2; printf '\\nlocked: Bearer abcdef123456 %0400d\\n\\n' 0 >&2; exit 6`,
    );
    const failure = await failureOf(vault.read("command:vault read x"));
    expect(failure).toEqual({
      code: "variable_unset",
      message: expect.stringMatching(/^vault exited with code 6 \(stderr: locked: Bearer \(hidden\) 0{100,180}\)$/),
      next: "run it in your shell: vault read x",
    });
  });

  test.each([
    ["exit 0", "vault printed nothing"],
    ["echo", "vault printed nothing"],
    ["kill -TERM $$", "vault was ended by SIGTERM"],
    ["printf 'a\\377'", "vault printed something that is not text"],
    ["yes", "vault printed more than 65536 bytes"],
  ])("%s: no value", async (body, message) => {
    await using vault = await withVault(body);
    expect(await failureOf(vault.read("command:vault"))).toMatchObject({ code: "variable_unset", message });
  });

  test("a program that does not end is ended after 30 seconds with everything that it has started", async () => {
    await using vault = await withVault(
      `echo "$$" > "$COUNT"; mkfifo "$COUNT.pipe"; echo started > "$COUNT.pipe"; sleep 1000 & wait`,
    );
    const value = failureOf(vault.read("command:vault"));
    // Opening the pipe waits until the program runs.
    const started = async (): Promise<string> =>
      readFile(vault.at("count.pipe"), "utf8").catch(() => new Promise((go) => setImmediate(go)).then(started));
    expect(await started()).toBe("started\n");
    await vault.clock.pass(30_000);
    expect(await value).toMatchObject({ message: "vault timed out: it printed no value for 30 s" });
  });

  test("a connection that is called off ends it", async () => {
    await using vault = await withVault(`sleep 1000`);
    const caller = new AbortController();
    const value = failureOf(vault.read("command:vault", caller.signal));
    caller.abort();
    expect(await value).toMatchObject({ code: "cancelled" });
    expect(vault.clock.pending()).toBe(0);
  });

  test("a program of a workspace that is not trusted is not found, and neither is one that is not there", async () => {
    await using vault = await withVault("echo value");
    const place = {
      ...vault.place,
      root: vault.at("bin"),
      trusted: false,
      environment: { ...vault.place.environment, home: "/nowhere" },
    };
    for (const line of ["vault", vault.at("bin/vault"), "no-such-program"])
      expect(await failureOf(withCommands(none, place)(`command:${line}`))).toMatchObject({
        code: "variable_unset",
        message: `the program "${line}" was not found`,
      });
    expect(await vault.read("command:~/bin/vault")).toBe("value");
  });
});

test("a command line is refused where a shell would be needed", () => {
  expect(commandWords("op read 'op://a b/c/d'")).toEqual({ words: ["op", "read", "op://a b/c/d"] });
  for (const line of [
    "",
    "  ",
    "pass a | head -1",
    "a; b",
    "$(a)",
    "`a`",
    "a > b",
    "a 'b",
    "A=b c",
    "bin/tool",
    "./tool",
  ])
    expect(commandWords(line)).toEqual({ refused: expect.any(String) });
});

describe("in settings", () => {
  const env = { TOKEN: "Bearer ${command:vault read token}" };

  test("the value reaches the server of a user's entry, and no log", async () => {
    await using vault = await withVault("echo s3cret-of-the-vault");
    const server = script(
      `process.stderr.write("token: " + process.env.TOKEN + "\\n" + [...process.env.TOKEN].reverse().join("") + "\\n", () => process.exit(3))`,
      { env },
    );
    const read = vault.read;
    await using opened = await connection(server, { secret: read });
    expect((await opened.failure()).message).not.toContain("s3cret-of-the-vault");
    const log = await opened.log();
    expect(log).not.toContain("s3cret-of-the-vault");
    expect(log).toContain("token: (hidden)");
    expect(log).toContain("tluav-eht-fo-terc3s");
  });

  test("a failure names the server", async () => {
    await using vault = await withVault("exit 1");
    await using opened = await connection(script("", { env }), { secret: vault.read });
    expect(await opened.failure()).toMatchObject({
      code: "variable_unset",
      message: '"s" has no value for a secret: vault exited with code 1',
      serverName: "s",
    });
  });

  test("a workspace's entry with a command does not start", async () => {
    await using world = await createWorld();
    await world.writeWorkspace({ mcpServers: { s: { command: "x", env } } });
    const { definition, problems } = serverOf(await world.load(), "s");
    expect(definition).toBeUndefined();
    expect(said(problems)).toEqual([
      expect.stringMatching(
        /^error .* server "s": "env.TOKEN" uses \$\{command:vault read token\}: a workspace's settings must not run commands$/,
      ),
    ]);
  });

  test.each(["command", "cwd"])("not in %s", async (key) => {
    await using world = await createWorld();
    await world.writeUser({ mcpServers: { s: { command: "x", [key]: "/${command:vault a}" } } });
    expect(said(serverOf(await world.load(), "s").problems)).toEqual([
      expect.stringContaining(`"${key}" uses the secret command:vault a; a command and its folder are shown`),
    ]);
  });

  test("a reference of 1Password is recognised", async () => {
    await using world = await createWorld();
    const entry = { command: "x", env: { A: "op://Private/my item/token", B: "op://v/i/f", C: "op://" } };
    await world.writeUser({ mcpServers: { s: entry } });
    expect(serverOf(await world.load(), "s").problems).toMatchObject([
      { severity: "warning", next: `write "\${command:op read 'op://Private/my item/token'}" in your user settings` },
      { severity: "warning", next: 'write "${command:op read op://v/i/f}" in your user settings' },
    ]);
  });
});
