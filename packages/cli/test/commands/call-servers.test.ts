import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { behaves, stdioServer, webServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { processesOf } from "../support/left-over.ts";
import { type Machine, machine, userFile } from "../support/machine.ts";
import { openTerminal } from "../support/terminal.ts";

/** One that leaves a trace when it is started. */
const trap = (here: Machine): object => ({ command: "touch", args: [join(here.home, "started")] });

async function withServers(servers: (here: Machine) => object): Promise<Machine> {
  const here = await machine();
  await here.write(userFile, { mcpServers: servers(here) });
  return here;
}

test("a call connects to its own server and to no other", async () => {
  await using here = await withServers((at) => ({ trap: trap(at), good: stdioServer("well-behaved") }));
  expect(await here.run("call", "good.echo", "text=hello")).toEqual({ code: 0, stdout: "hello\n", stderr: "" });
  expect(await readdir(here.home)).not.toContain("started");
});

test("so do the tools of one server", async () => {
  await using here = await withServers((at) => ({ trap: trap(at), good: stdioServer("well-behaved") }));
  const { code, stdout } = await here.run("tools", "good");
  expect(code).toBe(0);
  expect(stdout).toMatch(/good: 1 tool\n\n {2}echo\(text: string\)/);
  expect(await readdir(here.home)).not.toContain("started");
});

test("the tools of all: those that answer are listed, the others named", async () => {
  await using here = await withServers(() => ({
    bad: { command: "no-such-program" },
    good: stdioServer("well-behaved"),
  }));
  const { code, stdout, stderr } = await here.run("tools");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^good: 1 tool\n/);
  expect(stderr).toMatch(/^"bad" did not start: .*\n {2}next: /);
  expect(stderr).toMatch(/call good\.echo text=text\n$/);
});

test("a server that breaks down over a call leaves open whether it ran", async () => {
  await using web = await webServer((request, response) => {
    if (request.method === "POST" && request.body.includes('"tools/call"'))
      response.writeHead(502, { "content-type": "text/plain" }).end("out of \u001b[31mropes");
    else behaves(request, response);
  });
  await using here = await withServers(() => ({ web: { httpUrl: web.origin } }));
  expect(await here.run("call", "web.echo", "text=1")).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(
      /^fairlead: web\.echo: the server answered with HTTP status 502 with text\/plain instead of a JSON-RPC response; response begins "out of \\u001b\[31mropes"; the request may or may not have run\n/,
    ),
  });
});

test("what is odd about a result is a warning", async () => {
  await using here = await withServers(() => ({ shop: stdioServer("workshop") }));
  expect(await here.run("call", "shop.weather")).toEqual({
    code: 0,
    stdout: "fine\n",
    stderr: "warning: the tool declares an outputSchema, but its result has no structured content\n",
  });
});

test("dots in names: the server that has the tool is meant", async () => {
  const good = stdioServer("well-behaved");
  await using here = await withServers(() => ({ a: good, "a.b": good }));
  expect(await here.run("call", "a.b.echo", "text=1")).toMatchObject({ code: 0, stdout: "1\n" });
  expect(await here.run("call", "a.echo", "text=2")).toMatchObject({ code: 0, stdout: "2\n" });
});

test.each([
  ["call", (text: string) => ["call", "echo", `text=${text}`]],
  ["-p in manual mode", (text: string) => ["--model", "manual", "-p", `echo text=${text}`]],
] as const)("%s: a bare name calls no later server while the first one is unknown", async (_way, words) => {
  await using here = await withServers(() => ({
    first: { command: "no-such-program" },
    second: stdioServer("well-behaved"),
  }));
  // The second time, Fairlead does not try the first server again.
  for (const text of ["once", "twice"]) {
    const ending = await here.run(...words(text));
    expect(ending.code).toBe(2);
    expect(`${ending.stdout}${ending.stderr}`).toContain(
      '"echo" is ambiguous: "first" comes first in your settings, is not connected, and may have a tool of this name',
    );
    expect(ending.stdout).not.toContain(text);
  }
});

test("a bare name calls the only server that may start", async () => {
  await using here = await withServers(() => ({
    first: { command: "no-such-program" },
    second: stdioServer("well-behaved"),
  }));
  await here.run("mcp", "disable", "first");
  expect(await here.run("call", "echo", "text=hello")).toMatchObject({ code: 0, stdout: "hello\n" });
});

test("a server that does not work is the reason why its call does not", async () => {
  await using here = await withServers(() => ({ bad: { command: "no-such-program" } }));
  const { code, stderr } = await here.run("call", "bad.tool", "nonsense");
  expect(code).toBe(4);
  expect(stderr).toMatch(/^fairlead: "bad" did not start: .*\n {2}next: /);
});

test.each([["call", "silent.echo", "text=1"], ["tools"], ["mcp", "test", "silent"]])(
  "Ctrl-C while a server is waited for: %s %s",
  async (...argv) => {
    await using here = await withServers(() => ({ silent: stdioServer("silent") }));
    await using terminal = openTerminal(here, ...argv);
    await terminal.until(/silent: connecting \(\d+ s\)/);
    terminal.type("\u0003");
    expect(await terminal.exitCode).toBe(130);
    expect(terminal.screen()).toMatch(/^fairlead: .*cancelled$/m);
    expect(terminal.screen()).not.toContain("connecting");
    expect(processesOf(here)).toEqual([]);
  },
);
