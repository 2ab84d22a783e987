/** `fairlead console`: opens a page that the background host serves, for as long as the command runs. */

import { chmod, readdir, readFile, stat } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { programServer, until } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { lineOf, openPageAt, visitConsole } from "../support/console-client.ts";
import { processesOf } from "../support/left-over.ts";
import { type Machine, machine, userFile } from "../support/machine.ts";
import { runProcess, startPiped } from "../support/process.ts";
import { openTerminal } from "../support/terminal.ts";
import { enter, openApp, quit } from "../support/tui/journey.ts";

const addressLine = /^http:\/\/127\.0\.0\.1:\d+\/#k=[\w-]{43}$/;

interface ConsoleMachine extends Machine {
  hostPid(): Promise<number | undefined>;
}

async function consoleMachine(fairlead: object = {}): Promise<ConsoleMachine> {
  const here = await machine({ [userFile]: { mcpServers: { growing: programServer("growing") }, fairlead } });
  return {
    ...here,
    async hostPid() {
      const { stdout } = await here.run("daemon", "status", "--json");
      return (JSON.parse(stdout) as { readonly pid?: number }).pid;
    },
    async [Symbol.asyncDispose]() {
      await here.run("daemon", "stop");
      await until(() => processesOf(here).length === 0);
      await here[Symbol.asyncDispose]();
    },
  };
}

/** Starts the command, and resolves when it has printed the address. */
async function openConsole(here: Pick<Machine, "env" | "project">, ...argv: readonly string[]) {
  const { child, ending } = startPiped(here as Machine, "console", "--no-open", ...argv);
  const address = await lineOf(child.stdout, addressLine);
  return {
    child,
    ending,
    address,
    async [Symbol.asyncDispose]() {
      child.kill("SIGINT");
      await ending;
    },
  };
}

const names = (snapshot: { readonly servers: readonly { readonly name: string }[] }): readonly string[] =>
  snapshot.servers.map(({ name }) => name);

test("the address is the only line on stdout, opens the page once, and the page shows the workspace's servers", async () => {
  await using here = await consoleMachine();
  await using console = await openConsole(here);
  const session = await visitConsole(console.address);
  expect(names(await session.snapshot())).toContain("growing");
  expect((await openPageAt(session.origin)).type).toBe("text/html; charset=utf-8");
  await expect(visitConsole(console.address)).rejects.toThrow("status 401");
  expect((await here.run("daemon", "status")).stdout).toContain("clients: fairlead console\n");
  console.child.kill("SIGINT");
  expect(await console.ending).toMatchObject({ stdout: `${console.address}\n`, stderr: "" });
  await expect(fetch(session.origin)).rejects.toThrow();
  await until(async () => (await here.run("daemon", "status")).stdout.includes("clients: none"));
});

test("two terminals have two consoles: each has its own addresses and ends its own pages", async () => {
  await using here = await consoleMachine();
  const first = await openConsole(here);
  await using second = await openConsole(here);
  const [one, two] = [await visitConsole(first.address), await visitConsole(second.address)];
  expect(one.origin).not.toBe(two.origin);
  first.child.kill("SIGKILL");
  await first.ending;
  await until(() =>
    fetch(one.origin).then(
      () => false,
      () => true,
    ),
  );
  expect(names(await two.snapshot())).toContain("growing");
});

test("a console in another folder shows that folder's servers", async () => {
  await using here = await consoleMachine();
  await here.write("other/.gemini/settings.json", { mcpServers: { elsewhere: programServer("growing") } });
  const other = { ...here, project: join(here.path, "other") };
  await using first = await openConsole(here);
  await using second = await openConsole(other);
  expect(names(await (await visitConsole(first.address)).snapshot())).not.toContain("elsewhere");
  const shown = await (await visitConsole(second.address)).snapshot();
  expect(names(shown)).toContain("elsewhere");
  expect(shown.workspace).toMatchObject({ root: other.project });
});

test("a command's call that passes through the background host is shown, with the command's name", async () => {
  await using here = await consoleMachine({ background: "on" });
  await using console = await openConsole(here);
  const session = await visitConsole(console.address);
  expect(await runProcess(here, "call", "growing.grow")).toMatchObject({ code: 0, stdout: "grew\n" });
  await until(async () => (await session.snapshot()).calls.length > 0);
  const { calls } = await session.snapshot();
  expect(calls).toMatchObject([{ server: "growing", kind: "tool", name: "grow", from: "fairlead call", state: "ok" }]);
});

test("--port chooses the port; a port that is in use is named, and the command ends", async () => {
  await using here = await consoleMachine();
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as AddressInfo;
  const refused = startPiped(here, "console", "--no-open", "--port", String(port));
  expect(await refused.ending).toEqual({
    code: 2,
    stdout: "",
    stderr: `fairlead: cannot listen on port ${port}: port ${port} is in use by another program\n  next: choose another --port\n`,
  });
  await new Promise((resolve) => taken.close(resolve));
  await using console = await openConsole(here, "--port", String(port));
  expect(new URL(console.address).port).toBe(String(port));
});

test("if the background host is killed, the console opens again at its port, and old pages have no session", async () => {
  await using here = await consoleMachine();
  await using console = await openConsole(here);
  const session = await visitConsole(console.address);
  const pid = await here.hostPid();
  const again = lineOf(console.child.stderr, addressLine);
  process.kill(pid ?? 0, "SIGKILL");
  const address = await again;
  expect(new URL(address).origin).toBe(session.origin);
  expect(await here.hostPid()).not.toBe(pid);
  expect(await session.run("tools/list", {})).toMatchObject({
    status: 401,
    body: { error: { code: "auth_required", next: "fairlead console" } },
  });
  expect(names(await (await visitConsole(address)).snapshot())).toContain("growing");
});

test.each([
  ["with --alone", ["--alone"], {}],
  ["with the setting background off", [], { background: "off" }],
] as const)("%s the command itself serves the page, and starts no background host", async (_, words, fairlead) => {
  await using here = await consoleMachine(fairlead);
  const console = await openConsole(here, ...words);
  const session = await visitConsole(console.address);
  expect(names(await session.snapshot())).toContain("growing");
  expect(await here.hostPid()).toBeUndefined();
  console.child.kill("SIGINT");
  expect(await console.ending).toMatchObject({ stdout: `${console.address}\n` });
  await expect(fetch(session.origin)).rejects.toThrow();
});

/** A stand-in for the program that opens addresses: it notes its arguments, and the file that it gets. */
const opener = `#!/bin/sh
printf '%s\\n' "$@" > "$HOME/opened"
file="\${1#file://}"
stat -c %a "$file" > "$HOME/mode"
cp "$file" "$HOME/page"
touch "$HOME/done"
`;

test("the browser gets a private file that leads to the address, so that the code is in no command line", async () => {
  await using here = await consoleMachine();
  await here.write("bin/xdg-open", opener);
  await chmod(join(here.path, "bin/xdg-open"), 0o755);
  const env = { ...here.env, PATH: `${join(here.path, "bin")}:${here.env["PATH"]}`, DISPLAY: ":0" };
  const { child, ending } = startPiped({ ...here, env }, "console");
  const said = lineOf(child.stderr, /opens in your browser/);
  await until(() =>
    readFile(join(here.home, "done")).then(
      () => true,
      () => false,
    ),
  );
  expect(await said).toBe(`The console of ${here.project} opens in your browser.`);
  const folder = join(here.home, ".fairlead/console");
  const opened = await here.read("home/opened");
  expect(opened).toMatch(/^file:\/\/\S+\/[.]fairlead\/console\/\d+[.]html\n$/);
  expect([await here.read("home/mode"), (await stat(folder)).mode & 0o777]).toEqual(["600\n", 0o700]);
  const [, address = ""] = /url=(http[^"]+)"/.exec(await here.read("home/page")) ?? [];
  expect(address).toMatch(addressLine);
  const { hash } = new URL(address);
  expect(processesOf(here).join("\n")).not.toContain(hash.slice(3));
  await visitConsole(address);
  child.kill("SIGINT");
  expect((await ending).stdout).toBe("");
  expect(await readdir(folder)).toEqual([]);
});

test("without a browser the address is printed for a person, and Enter prints another one", async () => {
  await using here = await consoleMachine();
  await using terminal = openTerminal(here, "console");
  await terminal.until(/No browser could be started. Open this address on this machine within a minute:/);
  await terminal.until(/Enter prints another address. Ctrl-C closes the console./);
  const addresses = (): readonly string[] =>
    [...terminal.output().matchAll(/http:\/\/127\.0\.0\.1:\d+\/#k=[\w-]{43}/g)].map(([url]) => url);
  const [first = ""] = addresses();
  terminal.type("\r");
  await until(() => addresses().length > 1);
  const [, second = ""] = addresses();
  expect(second).not.toBe(first);
  await visitConsole(second);
  await visitConsole(first);
  terminal.type("\u0003");
  expect(await terminal.exitCode).toBe(0);
});

test("--json prints the address in a document; a wrong port is refused", async () => {
  await using here = await consoleMachine();
  const { child, ending } = startPiped(here, "console", "--no-open", "--json");
  const line = await lineOf(child.stdout, /^\s*"address"/);
  const [, address = ""] = /"address": "([^"]+)"/.exec(line) ?? [];
  expect(address).toMatch(addressLine);
  child.kill("SIGINT");
  const { stdout } = await ending;
  expect(JSON.parse(stdout)).toEqual({ schemaVersion: 1, address });
  expect(await here.run("console", "--port", "70000")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--port must be a number from 0 to 65535, not "70000"'),
  });
});

test("/console in the app opens a console that closes with the app", async () => {
  await using here = await consoleMachine();
  await using app = await openApp(here);
  const addresses = (): readonly string[] => [
    ...new Set([...app.screen().matchAll(/http:\/\/127\.0\.0\.1:\d+\/#k=[\w-]{43}/g)].map(([url]) => url)),
  ];
  enter(app, "/console");
  await until(() => addresses().length === 1);
  enter(app, "/console");
  await until(() => addresses().length === 2);
  const [one, two] = await Promise.all(addresses().map(visitConsole));
  expect(one?.origin).toBe(two?.origin);
  expect(names((await one?.snapshot()) ?? { servers: [] })).toContain("growing");
  await quit(app);
  await expect(fetch(one?.origin ?? "")).rejects.toThrow();
});
