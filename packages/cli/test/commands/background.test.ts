/** Commands that use the background host: it keeps their servers running, and nothing else about them changes. */

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import {
  browser,
  canMount,
  programServer,
  realServer,
  smallDisk,
  stdioServer,
  temporaryFolder,
  until,
} from "@fairlead/test-servers";
import { connect } from "@fairlead/wire";
import { expect, it, test } from "vitest";
import { processesOf } from "../support/left-over.ts";
import { type Ending, type Machine, machine, userFile } from "../support/machine.ts";
import { runProcess, startPiped } from "../support/process.ts";
import { addressOn, signInScene } from "../support/sign-in-scene.ts";
import { openTerminal } from "../support/terminal.ts";
import { enter, openApp, quit } from "../support/tui/journey.ts";

interface BackgroundMachine extends Machine {
  /** Runs the built command as a process without a terminal. */
  call(...argv: readonly string[]): Promise<Ending>;
  hostPid(): Promise<number | undefined>;
}

async function backgroundMachine(
  servers: Readonly<Record<string, object>>,
  fairlead: object = { background: "on" },
): Promise<BackgroundMachine> {
  const here = await machine({ [userFile]: { mcpServers: servers, fairlead } });
  return {
    ...here,
    call: (...argv) => runProcess(here, ...argv),
    async hostPid() {
      const { stdout } = await here.run("daemon", "status", "--json");
      return (JSON.parse(stdout) as { readonly pid?: number }).pid;
    },
    async [Symbol.asyncDispose]() {
      await here.run("daemon", "stop");
      // The servers of a killed host are ended by its watchdog.
      await until(() => processesOf(here).length === 0);
      await here[Symbol.asyncDispose]();
    },
  };
}

const growing = (...args: readonly string[]) => ({ growing: programServer("growing", ...args) });

it("keeps a server's state between calls, and the call that starts the host says how to stop it", async () => {
  await using here = await backgroundMachine(growing());
  const first = await here.call("call", "growing.grow");
  expect(first).toMatchObject({ code: 0, stdout: "grew\n" });
  expect(first.stderr).toMatch(
    /^note: a background host \(process \d+\) keeps servers running for the next command; to stop it: fairlead daemon stop\n$/,
  );
  expect(await here.call("call", "growing.grown")).toEqual({ code: 0, stdout: "grown 1\n", stderr: "" });
  expect(await here.call("call", "growing.grown")).toEqual({ code: 0, stdout: "grown 2\n", stderr: "" });
  expect((await here.call("call", "growing.grown", "--alone")).code).toBe(2);
});

it("gives the calls of several processes one server, and one of them says that it has started the host", async () => {
  await using here = await backgroundMachine(growing());
  const calls = await Promise.all([1, 2, 3, 4].map(() => here.call("call", "growing.process")));
  expect(new Set(calls.map(({ stdout }) => stdout)).size).toBe(1);
  expect(calls.filter(({ stderr }) => stderr !== "")).toHaveLength(1);
});

it("gives a call with another PATH, or another value of a named variable, a server of its own", async () => {
  const entry = { ...programServer("growing"), env: { NAMED: "$NAMED" } };
  await using here = await backgroundMachine({ growing: entry });
  const withEnv = async (more: Readonly<Record<string, string>>): Promise<string> => {
    const { stdout } = await runProcess({ ...here, env: { ...here.env, ...more } }, "call", "growing.process");
    return stdout;
  };
  const usual = await withEnv({ NAMED: "one" });
  expect(await withEnv({ NAMED: "one", TERM: "other", SHLVL: "7" })).toBe(usual);
  expect(await withEnv({ NAMED: "two" })).not.toBe(usual);
  expect(await withEnv({ NAMED: "one", PATH: `/nowhere:${here.env["PATH"]}` })).not.toBe(usual);
  const path = `/elsewhere:${here.env["PATH"]}`;
  const asked = { ...here, env: { ...here.env, NAMED: "one", PATH: path } };
  expect((await runProcess(asked, "call", "growing.variable", "name=PATH")).stdout).toBe(`${path}\n`);
});

test.each([
  ["in CI", { CI: "true" }, {}, []],
  ["with --alone", {}, {}, ["--alone"]],
  ['with "background": "off"', {}, { background: "off" }, []],
  ["without a terminal", {}, {}, []],
  ["with --debug", {}, { background: "on" }, ["--debug"]],
])("a command starts no host %s", async (_, env, fairlead, words) => {
  await using here = await backgroundMachine(growing(), fairlead);
  const around = { ...here, env: { ...here.env, ...env } };
  expect(await runProcess(around, "call", "growing.grow", ...words)).toMatchObject({ code: 0, stderr: "" });
  expect(await here.hostPid()).toBeUndefined();
});

it("starts the host on a terminal, and asks a rule's question and a server's question there", async () => {
  await using here = await backgroundMachine({ shop: stdioServer("asks") }, {});
  await here.run("policy", "ask", "shop.order");
  const around = { ...here, env: { ...here.env, CI: "" } };
  await using terminal = openTerminal(around, "call", "shop.order");
  await terminal.until(/Call it\? \[y\/N\]/);
  terminal.type("y\r");
  await terminal.until(/size \(required\):$/m);
  terminal.type("small\r");
  await terminal.until(/number \[1\]:$/m);
  terminal.type("\r");
  await terminal.until(/note:$/m);
  terminal.type("\r");
  await terminal.until(/Send this to "shop"\? \[y\/N\]$/m);
  terminal.type("y\r");
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen()).toContain('{"action":"accept","content":{"size":"small","number":1}}');
  expect(await here.hostPid()).toBeGreaterThan(0);
});

/** A machine with the server `workshop`, and the lines that it has written about its calls. */
async function workshopMachine(): Promise<BackgroundMachine & { readonly notes: () => string }> {
  const folder = await temporaryFolder();
  const file = await folder.write("notes", "");
  const here = await backgroundMachine({ workshop: programServer("workshop", file) });
  return {
    ...here,
    notes: () => readFileSync(file, "utf8"),
    async [Symbol.asyncDispose]() {
      await here[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** A machine with the server `shop`. Its tool `announce` reports that its tools have changed. */
async function shopMachine() {
  const folder = await temporaryFolder();
  const inputSchema = { type: "object" };
  const describe = (description: string): Promise<string> =>
    folder.write("shop", {
      tools: [
        { name: "pay", description, inputSchema },
        { name: "announce", inputSchema },
      ],
    });
  const here = await backgroundMachine({ shop: programServer("contender", await describe("first"), "shop") });
  return {
    ...here,
    async change(description: string): Promise<void> {
      await describe(description);
      expect(await here.call("call", "shop.announce")).toMatchObject({ code: 0 });
    },
    async [Symbol.asyncDispose]() {
      await here[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

it("does not call a tool whose definition changes while the user is asked", async () => {
  await using here = await shopMachine();
  expect(await here.call("call", "shop.pay")).toMatchObject({ code: 0, stdout: "shop\n" });
  await here.run("policy", "ask", "shop.pay");
  await using terminal = openTerminal({ ...here, env: { ...here.env, CI: "" } }, "call", "shop.pay");
  await terminal.until(/Call it\? \[y\/N\]/);
  await here.change("second");
  terminal.type("y\r");
  expect(await terminal.exitCode).toBe(6);
  expect(terminal.screen()).toContain("shop.pay did not run: its definition changed while you were asked");
});

it("cancels the call with Ctrl-C, and the server keeps running", async () => {
  await using here = await workshopMachine();
  const { child, ending } = startPiped(here, "call", "workshop.hang");
  await until(() => here.notes().includes("hang"));
  const servers = (): readonly string[] => processesOf(here).filter((line) => line.includes("workshop.mjs"));
  const before = servers();
  child.kill("SIGINT");
  const { code, stderr } = await ending;
  expect({ code, last: stderr.trimEnd().split("\n").at(-1) }).toEqual({
    code: 130,
    last: "fairlead: workshop.hang: tools/call was cancelled",
  });
  await until(() => here.notes().includes("cancel"));
  expect(await here.call("call", "workshop.echo", "text=still")).toEqual({ code: 0, stdout: "still\n", stderr: "" });
  expect(servers()).toEqual(before);
});

test.each([
  ["is killed", (pid: number) => void process.kill(pid, "SIGKILL")],
  ["is stopped", async (_pid: number, here: Machine) => void (await here.run("daemon", "stop"))],
])("fails a call as lost if the host %s, and the next call works", async (_, end) => {
  await using here = await workshopMachine();
  const { ending } = startPiped(here, "call", "workshop.hang", "--json");
  await until(() => here.notes().includes("hang"));
  const pid = await here.hostPid();
  if (pid === undefined) throw new Error("no host runs");
  await end(pid, here);
  const { code, stdout } = await ending;
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    error: {
      code: "lost",
      message: "workshop.hang: the background host has ended; the request may or may not have run",
    },
  });
  expect(await here.call("call", "workshop.echo", "text=again")).toMatchObject({ code: 0, stdout: "again\n" });
});

test.each([
  ["a tool's exit", { workshop: programServer("workshop") }, ["call", "workshop.exit", "code=3"]],
  ["an unknown tool", { workshop: stdioServer("workshop") }, ["call", "workshop.nothing"]],
  ["a wrong argument", { workshop: stdioServer("workshop") }, ["call", "workshop.steps", "count=many"]],
  ["a timeout", { workshop: stdioServer("workshop") }, ["call", "workshop.hang", "--timeout", "300ms"]],
  ["a result against its schema", { workshop: stdioServer("workshop") }, ["call", "workshop.weather", "answer=x"]],
  ["a program that exits at once", { exits: programServer("exits", "3", "FATAL: no key") }, ["call", "exits.any"]],
  ["a program that is not there", { gone: { command: "no-such-program" } }, ["call", "gone.any"]],
  ["a server that nobody reaches", { web: { httpUrl: "http://127.0.0.1:9/mcp" } }, ["call", "web.any"]],
  ["a server that speaks no MCP", { garbage: programServer("garbage") }, ["tools", "garbage", "--refresh"]],
  ["a list", { library: stdioServer("library") }, ["resources", "--refresh"]],
  ["a list that grows with what clients declare", { all: realServer("everything") }, ["tools", "--refresh"]],
])("says and exits the same with and without the host: %s", async (_, servers, argv) => {
  await using here = await backgroundMachine(servers);
  await here.run("daemon", "restart");
  const alone = await here.call(...argv, "--alone", "--json");
  const shared = await here.call(...argv, "--json");
  const plain = (text: string) => text.replaceAll(/"durationMs": ?\d+|\d+ ms|process \d+/g, "…");
  expect({ ...shared, stdout: plain(shared.stdout) }).toEqual({ ...alone, stdout: plain(alone.stdout) });
});

it("starts no server and no host for a call that a rule denies by name", async () => {
  await using here = await backgroundMachine(growing());
  await here.run("policy", "deny", "growing.grow");
  expect(await here.call("call", "growing.grow")).toMatchObject({ code: 6 });
  expect(await here.hostPid()).toBeUndefined();
});

it("passes a result of 20 MB on unchanged", async () => {
  await using here = await backgroundMachine({ large: stdioServer("large-result") });
  const [alone, shared] = [
    await here.call("call", "large.write", "size=20000000", "--alone"),
    await here.call("call", "large.write", "size=20000000"),
  ];
  expect(alone.stdout.length).toBe(20_000_000);
  expect(shared.stdout === alone.stdout).toBe(true);
});

it("gives a call after a changed definition the new server at once", async () => {
  await using here = await backgroundMachine(growing());
  const shared = (await here.call("call", "growing.process")).stdout;
  await here.write(userFile, { mcpServers: growing("1"), fairlead: { background: "on" } });
  const changed = (await here.call("call", "growing.process")).stdout;
  expect(changed).not.toBe(shared);
  expect((await here.call("call", "growing.process")).stdout).toBe(changed);
});

it("reads the lists of a running server again with --refresh", async () => {
  await using folder = await temporaryFolder();
  const tool = (name: string) => [{ name, inputSchema: { type: "object" } }];
  const list = await folder.write("list", tool("first"));
  await using here = await backgroundMachine({ counted: programServer("counted", "", list) });
  expect((await here.call("tools", "counted")).stdout).toContain("first()");
  await folder.write("list", tool("second"));
  expect((await here.call("tools", "counted", "--refresh")).stdout).toContain("second()");
  expect(await here.call("call", "counted.second", "text=now")).toMatchObject({ code: 0, stdout: "now\n" });
});

it("uses the sign-in that the user has made meanwhile, and no longer after signing out", async () => {
  await using scene = await signInScene();
  const { here } = scene;
  await using _host = { [Symbol.asyncDispose]: () => here.run("daemon", "stop").then(() => undefined) };
  expect(await runProcess(here, "daemon", "start")).toMatchObject({ code: 0 });
  const refused = await runProcess(here, "call", "docs.echo", "text=1");
  expect(refused).toEqual(await runProcess(here, "call", "docs.echo", "text=1", "--alone"));
  expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining("next: fairlead mcp auth docs") });
  await using terminal = openTerminal(here, "mcp", "auth", "docs");
  const asked = await terminal.until(/Open the address in your browser\? \[y\/N\]/);
  terminal.type("y\r");
  await terminal.until(/The browser is open/);
  expect((await browser(addressOn(asked))).status).toBe(200);
  expect(await terminal.exitCode).toBe(0);
  expect(await runProcess(here, "call", "docs.echo", "text=1")).toMatchObject({ code: 0, stderr: "" });
  expect(await here.run("mcp", "logout", "docs")).toMatchObject({ code: 0 });
  expect(await runProcess(here, "call", "docs.echo", "text=1")).toMatchObject({ code: 5 });
});

it.runIf(canMount())("starts its own server, and says why, if the disk is too full for the host", async () => {
  await using disk = await smallDisk();
  await using machine = await backgroundMachine(growing());
  const here = { ...machine, env: { ...machine.env, FAIRLEAD_HOME: disk.path } };
  await disk.allowFiles(1);
  const { code, stdout, stderr } = await runProcess(here, "tools", "growing");
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("grow()") });
  expect(stderr).toMatch(
    /^note: the background host cannot be used, so this command starts its own servers: .*the disk is full$/m,
  );
});

it("starts the host by hand, and restarts and stops one of its servers", async () => {
  await using here = await backgroundMachine({ ...growing(), gone: { command: "no-such-program" } }, {});
  expect(await here.call("mcp", "stop", "growing")).toEqual({ code: 0, stdout: "not running: growing\n", stderr: "" });
  expect(await here.call("daemon", "start")).toMatchObject({
    stdout: expect.stringMatching(/^started: process \d+\n$/),
  });
  expect(await here.call("daemon", "start")).toMatchObject({
    stdout: expect.stringMatching(/^already running: process \d+\n$/),
  });
  const before = await here.call("call", "growing.process");
  expect(before).toMatchObject({ code: 0, stderr: "" });
  expect((await here.call("mcp", "list")).stdout).toMatch(/growing.*3 tools/);
  expect((await here.call("call", "growing.process")).stdout).toBe(before.stdout);
  expect(await here.call("mcp", "restart", "growing")).toEqual({ code: 0, stdout: "restarted: growing\n", stderr: "" });
  expect((await here.call("call", "growing.process")).stdout).not.toBe(before.stdout);
  expect(await here.call("mcp", "stop", "growing")).toEqual({ code: 0, stdout: "stopped: growing\n", stderr: "" });
  expect(processesOf(here).filter((line) => line.includes("growing.mjs"))).toEqual([]);
  expect(await here.call("mcp", "restart", "gone")).toMatchObject({ code: 4 });
  expect(await here.call("mcp", "restart", "nobody")).toMatchObject({ code: 2 });
});

it("starts the host and the server with mcp restart where a call would, and not with mcp stop", async () => {
  await using here = await backgroundMachine(growing());
  expect(await here.call("mcp", "stop", "growing")).toEqual({ code: 0, stdout: "not running: growing\n", stderr: "" });
  const inCi = { ...here, env: { ...here.env, CI: "true" } };
  expect((await runProcess(inCi, "mcp", "restart", "growing")).stdout).toBe("not running: growing\n");
  expect(await here.hostPid()).toBeUndefined();
  expect(await here.call("mcp", "restart", "growing")).toEqual({
    code: 0,
    stdout: "started: growing\n",
    stderr: expect.stringMatching(/^note: a background host \(process \d+\) keeps servers running .*daemon stop\n$/),
  });
  expect(processesOf(here).filter((line) => line.includes("growing.mjs"))).toHaveLength(1);
});

/** A machine whose host runs the program `new` of the stateless protocol, and the program `old` of an earlier one. */
async function bothErasMachine() {
  const servers = { new: programServer("growing", "0", "modern"), old: programServer("growing") };
  const here = await backgroundMachine(servers);
  const pid = async (server: string): Promise<string> => (await here.call("call", `${server}.process`)).stdout.trim();
  return { ...here, pids: { new: await pid("new"), old: await pid("old") } };
}

it("gives -p the running program of the stateless protocol; -p starts others itself, and all without a host", async () => {
  await using here = await bothErasMachine();
  const headless = async (server: string): Promise<string> => {
    const call = ["--model", "manual", "--allow", `${server}.process`, "-p", `${server}.process()`];
    const { code, stdout } = await here.call(...call);
    expect(code).toBe(0);
    return stdout.trim();
  };
  expect(await headless("new")).toBe(here.pids.new);
  expect(await headless("old")).not.toBe(here.pids.old);
  await here.call("daemon", "stop");
  expect(await headless("new")).not.toBe(here.pids.new);
  expect(await here.hostPid()).toBeUndefined();
});

it("gives the app the running program of the stateless protocol until the user restarts it there", async () => {
  await using here = await bothErasMachine();
  await using terminal = await openApp(here);
  await terminal.until(/^2 ready/m);
  enter(terminal, "new.process");
  await terminal.until(new RegExp(`^ +${here.pids.new}$`, "m"));
  enter(terminal, "old.process");
  await terminal.until(/old\.process done\s+\d+/);
  expect(terminal.screen()).not.toMatch(new RegExp(`^ +${here.pids.old}$`, "m"));
  // Another program changes the list of tools.
  await here.call("call", "new.grow");
  enter(terminal, "new.grown");
  await terminal.until(/grown 1/);
  enter(terminal, "/mcp restart new");
  await terminal.until(/"new": connected: 3 tools/);
  enter(terminal, "new.grow");
  await terminal.until(/new\.grow done/);
  expect((await here.call("call", "new.grown")).stdout).toBe("grown 2\n");
  await quit(terminal);
});

it("serves HTTP clients from the background host, also from the next one after it was killed", async () => {
  await using here = await backgroundMachine(growing());
  await here.run("policy", "allow", "growing.process");
  const { child, ending } = startPiped(here, "serve", "--http", "--no-token", "--client", "web");
  try {
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    const { url } = JSON.parse(line) as { readonly url: string };
    const shared = await here.call("call", "growing.process");
    expect(await processAt(url)).toBe(shared.stdout);
    const pid = await here.hostPid();
    if (pid === undefined) throw new Error("no host runs");
    process.kill(pid, "SIGKILL");
    await until(() => processesOf(here).some((one) => one.includes("__host") && !one.startsWith(`${pid} `)));
    const next = await here.call("call", "growing.process");
    expect(next.stdout).not.toBe(shared.stdout);
    expect(await processAt(url)).toBe(next.stdout);
    child.kill("SIGINT");
    expect(await ending).toMatchObject({ code: 0 });
    await expect(fetch(url, { method: "POST" })).rejects.toThrow("fetch failed");
  } finally {
    child.kill("SIGKILL");
    await ending;
  }
});

/** The process id of the server `growing` behind the gateway's address. */
async function processAt(url: string): Promise<string> {
  const target = { kind: "http", url: `${url}/growing`, headers: {} } as const;
  const session = await connect(target, { clientInfo: { name: "test", version: "1" } });
  try {
    const { content } = await session.request("tools/call", { name: "process", arguments: {} });
    const [{ text }] = content as [{ readonly text: string }];
    return `${text}\n`;
  } finally {
    await session.close();
  }
}
