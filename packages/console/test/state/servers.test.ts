import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  authorizationServer,
  browser,
  guardedServer,
  programServer,
  stdioServer,
  temporaryFolder,
  until,
} from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { ConsoleEvent } from "../../src/protocol/events.ts";
import type { ServerRow } from "../../src/protocol/rows.ts";
import { type ConsoleScene, consoleScene, ofType } from "./scene.ts";

/** The first row of the server that matches, from a snapshot or an event. */
async function rowOf(scene: ConsoleScene, name: string, matches: (row: ServerRow) => boolean): Promise<ServerRow> {
  const { servers } = await scene.state.snapshot();
  const found = servers.find((row) => row.name === name && matches(row));
  if (found !== undefined) return found;
  const { server } = await scene.event(ofType("server", ({ server: row }) => row.name === name && matches(row)));
  return server;
}

const tool = (description: string) => ({ name: "pay", description, inputSchema: { type: "object" } });

test("a row has the state with its cause, the lists, the tokens and the next step", async () => {
  await using scene = await consoleScene({
    servers: {
      good: stdioServer("well-behaved"),
      gone: { command: join("/", "nowhere", "program") },
      off: { ...stdioServer("well-behaved"), disabled: true },
    },
  });
  const before = await scene.state.snapshot();
  expect(before).toMatchObject({ version: "1.2.3", workspace: { isTrusted: false }, problems: [] });
  expect(before.servers.map(({ name, status, next }) => [name, status, next?.action])).toEqual([
    ["good", "disconnected", "start"],
    ["gone", "disconnected", "start"],
    ["off", "disabled", "enable"],
    ["demo", "disconnected", "start"],
  ]);
  expect(before.servers[0]).toMatchObject({ transport: "stdio", scope: "user", isCached: false, calls: 0, changed: 0 });
  expect(before.servers[0]?.since).toBeUndefined();
  await expect(scene.run("tools/show", { server: "good", tool: "echo" })).rejects.toMatchObject({
    code: "tool_unknown",
    message: 'the tools of "good" are not known before it is started',
  });
  await scene.run("servers/start", { servers: ["good", "gone"] });
  const good = await rowOf(scene, "good", ({ counts, tokens }) => counts !== undefined && tokens !== undefined);
  expect(good).toMatchObject({ status: "connected", isCached: false, protocolVersion: "2025-11-25" });
  expect(good.next).toBeUndefined();
  expect(Math.abs((good.since ?? 0) - Date.now())).toBeLessThan(60_000);
  const gone = await rowOf(scene, "gone", ({ cause }) => cause !== undefined);
  expect(gone.cause).toContain("/nowhere/program");
  await scene.run("servers/stop", { servers: ["good"] });
  const stopped = await rowOf(scene, "good", ({ status, isCached }) => status === "disconnected" && isCached);
  expect(stopped.counts).toEqual(good.counts);
  await scene.run("servers/restart", { servers: ["good"] });
  await rowOf(scene, "good", ({ status }) => status === "connected");
  await scene.run("servers/refresh", { server: "good" });
  await expect(scene.run("servers/start", { servers: ["good", "none"] })).rejects.toMatchObject({
    code: "server_unknown",
  });
});

test("a server that fails again has failed since the first time, and keeps its cause while it is tried", async () => {
  await using scene = await consoleScene({ servers: { dies: stdioServer("exits") } });
  await scene.run("servers/start", { servers: ["dies"] });
  const first = await rowOf(scene, "dies", ({ cause }) => cause !== undefined);
  scene.events.length = 0;
  const restarted = Date.now();
  await scene.run("servers/restart", { servers: ["dies"] });
  // A try that is too short to be told leaves the row as it was, so there may be no event to wait for.
  const row = async () => (await scene.state.snapshot()).servers.find(({ name }) => name === "dies");
  await until(async () => (await row())?.status === "disconnected");
  const again = await row();
  expect(again?.cause).toBe(first.cause);
  expect(again?.since).toBeLessThanOrEqual(restarted);
  // A row is told at most ten times a second, so a short try may be in none.
  const tries = scene.events.filter(ofType("server", ({ server }) => server.status === "connecting"));
  expect(tries.map(({ server }) => server.cause)).toEqual(tries.map(() => first.cause));
});

test("calls of the last day are counted, with their median and the last failure of the server", async () => {
  await using scene = await consoleScene({ servers: { good: stdioServer("well-behaved") } });
  await scene.host.call("good", "echo", { text: "one" });
  await scene.host.call("good", "echo", { text: "two" });
  const row = await rowOf(scene, "good", ({ calls }) => calls === 2);
  expect(row.median).toBeGreaterThanOrEqual(0);
  expect(row.lastError).toBeUndefined();
  await scene.host.flushHistory();
  // A console that is opened later counts the history.
  const { ConsoleState } = await import("../../src/server/state/console-state.ts");
  await using later = new ConsoleState({ host: scene.host, version: "1.2.3", inbox: scene.inbox });
  const { servers } = await later.snapshot();
  expect(servers.find(({ name }) => name === "good")).toMatchObject({ calls: 2 });
});

test("a server is shown with its definition and place, and no literal secret", async () => {
  await using scene = await consoleScene({
    servers: { good: { ...stdioServer("well-behaved"), env: { API_TOKEN: "planted-secret-value-1234" } } },
  });
  const shown = await scene.run("servers/show", { server: "good" });
  expect(shown.definedAt).toBe(`${scene.home}/.gemini/settings.json:3:5`);
  expect(shown.fields.map(({ label }) => label)).toContain("command");
  expect(JSON.stringify(shown)).not.toContain("planted-secret");
  expect(JSON.stringify(shown.fields)).toContain("API_TOKEN");
  const { prompts } = await scene.run("servers/show", { server: "demo" });
  expect(prompts).toEqual([expect.objectContaining({ name: "teach" })]);
});

test("a test connects the server apart, and shows each step", async () => {
  await using scene = await consoleScene({
    servers: { good: stdioServer("well-behaved"), dies: programServer("exits", "3", "no API key here") },
  });
  const { steps } = await scene.run("servers/test", { server: "good" });
  expect(steps.map(({ label }) => label)).toEqual(
    expect.arrayContaining(["definition", "program", "environment", "start", "handshake", "tools/list", "result"]),
  );
  expect(steps.every(({ isOk }) => isOk)).toBe(true);
  expect(scene.host.states().find(({ name }) => name === "good")).toMatchObject({ reason: "lazy" });
  const failed = await scene.run("servers/test", { server: "dies" });
  expect(failed.steps.at(-1)).toMatchObject({ label: "result", isOk: false });
  expect(failed.steps.find(({ label }) => label === "stderr")?.text).toContain("no API key here");
  await expect(scene.run("servers/test", { server: "demo" })).rejects.toMatchObject({ code: "usage" });
});

test("stderr lines arrive as events, and the log file can be read", async () => {
  await using scene = await consoleScene({ servers: { dies: programServer("exits", "3", "no API key here") } });
  await scene.run("servers/start", { servers: ["dies"] });
  expect(await scene.event(ofType("log"))).toMatchObject({ server: "dies", line: "no API key here" });
  await rowOf(scene, "dies", ({ cause }) => cause !== undefined);
  const { lines, file } = await scene.run("servers/log", { server: "dies", lines: 50 });
  expect(file).toContain("dies.log");
  expect(lines.join("\n")).toContain("no API key here");
});

test("a disabled server is enabled in the settings, as with mcp enable", async () => {
  await using scene = await consoleScene({ servers: { good: { ...stdioServer("well-behaved"), disabled: true } } });
  await scene.run("servers/enable", { server: "good", isEnabled: true });
  await rowOf(scene, "good", ({ status }) => status === "disconnected");
  const settings = await readFile(join(scene.home, ".gemini/settings.json"), "utf8");
  expect(settings).not.toContain("disabled");
  await scene.run("servers/enable", { server: "good", isEnabled: false });
  await rowOf(scene, "good", ({ status }) => status === "disabled");
});

test("a workspace's server is approved only as the person has seen it", async () => {
  await using scene = await consoleScene({
    servers: {},
    workspace: { mcpServers: { team: stdioServer("well-behaved") } },
    trust: true,
  });
  const row = await rowOf(scene, "team", ({ next }) => next?.action === "approve");
  expect(row).toMatchObject({ status: "blocked", reason: "awaiting_approval", scope: "workspace" });
  const { fingerprint = "", fields } = await scene.run("servers/show", { server: "team" });
  expect(fields.map(({ label }) => label)).toContain("written in");
  await expect(scene.run("servers/approve", { server: "team", fingerprint: "other" })).rejects.toMatchObject({
    code: "changed",
  });
  await scene.run("servers/approve", { server: "team", fingerprint });
  await rowOf(scene, "team", ({ status }) => status === "disconnected");
});

test("changed definitions are shown with their differences, and accepted only as the person has seen them", async () => {
  await using folder = await temporaryFolder();
  await folder.write("tools.json", [tool("Pays a bill.")]);
  const entry = stdioServer("catalog", join(folder.path, "tools.json"));
  await using scene = await consoleScene({ servers: { bank: entry } });
  await scene.host.start({ servers: ["bank"] });
  await scene.host.call("bank", "pay").catch(() => {});
  await folder.write("tools.json", [tool("Pays everything.")]);
  await scene.run("servers/restart", { servers: ["bank"] });
  const changed = await rowOf(scene, "bank", (row) => row.changed === 1);
  expect(changed.next).toEqual({ label: "Compare", action: "compare" });
  const { changes } = await scene.run("servers/show", { server: "bank" });
  expect(changes).toMatchObject([
    {
      kind: "tool",
      name: "pay",
      differences: [{ member: "description", before: "Pays a bill.", after: "Pays everything." }],
    },
  ]);
  const accept = (digest: string) => scene.run("servers/accept", { server: "bank", tools: [{ name: "pay", digest }] });
  await expect(accept("0".repeat(64))).rejects.toMatchObject({ code: "changed" });
  await accept(changes[0]?.digest ?? "");
  await rowOf(scene, "bank", (row) => row.changed === 0);
  expect(scene.events.filter(isChangedRow).length).toBeGreaterThan(0);
});

function isChangedRow(event: ConsoleEvent): boolean {
  return event.type === "server" && event.server.changed === 1;
}

test("a sign-in is a question with the address, and the browser's redirect ends it", async () => {
  await using authorization = await authorizationServer();
  await using guarded = await guardedServer({ authorization, scopes: ["read"] });
  await using scene = await consoleScene({ servers: { docs: { httpUrl: guarded.url } } });
  await scene.run("servers/start", { servers: ["docs"] });
  await rowOf(scene, "docs", ({ next }) => next?.action === "signIn");
  await scene.run("servers/signIn", { server: "docs" });
  const { question } = await scene.event(ofType("question"));
  if (question.kind !== "sign_in") throw new Error(`a question of the kind ${question.kind}`);
  expect(question).toMatchObject({ server: "docs", takesPastedAddress: true });
  await browser(question.url);
  await rowOf(scene, "docs", ({ status }) => status === "connected");
  expect(await scene.event(ofType("answered"))).toEqual({ type: "answered", id: question.id });
});

test("the address of a sign-in can be pasted", async () => {
  await using authorization = await authorizationServer();
  await using guarded = await guardedServer({ authorization, scopes: ["read"] });
  await using scene = await consoleScene({ servers: { docs: { httpUrl: guarded.url } } });
  await scene.run("servers/signIn", { server: "docs" });
  const { question } = await scene.event(ofType("question"));
  if (question.kind !== "sign_in") throw new Error(`a question of the kind ${question.kind}`);
  const { address } = await browser(question.url, { visits: false });
  await scene.run("questions/answer", {
    id: question.id,
    answer: { kind: "sign_in", action: "accept", pasted: address },
  });
  await rowOf(scene, "docs", ({ status }) => status === "connected");
});

test("a sign-in that the person cancels fails, and the server stays as it is", async () => {
  await using authorization = await authorizationServer();
  await using guarded = await guardedServer({ authorization, scopes: ["read"] });
  await using scene = await consoleScene({ servers: { docs: { httpUrl: guarded.url } } });
  await scene.run("servers/signIn", { server: "docs" });
  const { question } = await scene.event(ofType("question"));
  await scene.run("questions/answer", { id: question.id, answer: { kind: "sign_in", action: "cancel" } });
  expect(await scene.event(ofType("note", ({ text }) => text.includes("cancelled")))).toMatchObject({
    text: 'sign-in to "docs" cancelled',
  });
  await expect(scene.run("servers/signIn", { server: "demo" })).rejects.toMatchObject({ code: "usage" });
});
