import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { addAdHocServer } from "../../src/trust/ad-hoc.ts";
import { type Machine, machine, trustedMachine, userFile, workspaceFile } from "../support/machine.ts";

const program = { name: "typed", entry: { command: "node", args: ["server.js"] } };

async function cwdOf(here: Machine, cwd = here.root, entry: object = program.entry): Promise<string | undefined> {
  const configuration = await here.load({
    root: here.root,
    environment: { env: {}, home: join(here.path, "home"), cwd, platform: process.platform },
  });
  const { added } = await addAdHocServer(configuration, { name: "typed", entry: { ...entry } });
  const transport = added.server.definition?.resolved;
  return transport?.kind === "stdio" ? transport.cwd : undefined;
}

test("it joins the others, as an entry of the user's own that may start", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { mine: { command: "mine" } } } });
  const before = await here.load();
  const { configuration, added } = await addAdHocServer(before, {
    name: "typed",
    entry: { url: "https://example.com/${PART}", headers: { "X-Key": "$KEY" } },
  });
  expect(configuration.servers).toEqual([...before.servers, added]);
  expect({ ...configuration, servers: [] }).toEqual({ ...before, servers: [] });
  expect(added).toMatchObject({
    server: { name: "typed", scope: "user", kind: "http-or-sse", shadows: [] },
    admission: { status: "disconnected", reason: "variable_unset" },
  });
  expect(added.server.origin).toEqual({ scope: "user", file: "command line", line: 1, column: 1 });
  const again = await addAdHocServer(await here.load({}, { KEY: "k", PART: "p" }), {
    name: "typed",
    entry: { url: "https://example.com/${PART}", headers: { "X-Key": "$KEY" } },
  });
  expect(again.added.admission).toEqual({ status: "admitted" });
  expect(again.added.server.definition?.resolved).toEqual({
    kind: "http-or-sse",
    url: "https://example.com/p",
    headers: new Map([["X-Key", "k"]]),
  });
});

describe("where a program starts", () => {
  test("in a trusted folder: where the person is", async () => {
    await using here = await trustedMachine({});
    expect(await cwdOf(here)).toBe(here.root);
    expect(await cwdOf(here, join(here.root, "deep/$HOME/$X"))).toBe(join(here.root, "deep/$HOME/$X"));
    const { added } = await addAdHocServer(await here.load(), { name: "typed", entry: { url: "https://a.example" } });
    expect([added.admission, added.server.problems]).toEqual([{ status: "admitted" }, []]);
  });

  test("who is elsewhere is not in a trusted folder", async () => {
    await using here = await trustedMachine({});
    expect(await cwdOf(here, here.path)).toBeUndefined();
  });

  test("in a folder that is not trusted: where the user's own servers do", async () => {
    await using here = await machine();
    expect(await cwdOf(here)).toBeUndefined();
  });

  test("where its entry says, if it does", async () => {
    await using here = await trustedMachine({});
    expect(await cwdOf(here, here.root, { ...program.entry, cwd: "/elsewhere" })).toBe("/elsewhere");
  });
});

describe("what the settings say about its name counts", () => {
  test.each([
    [
      { mcp: { allowed: ["other"] } },
      "blocked",
      "not_allowed",
      /^"typed" is not listed in mcp\.allowed in .*settings\.json:\d+$/,
    ],
    [{ mcp: { excluded: ["typed"] } }, "blocked", "excluded", /^"typed" is excluded by mcp\.excluded in /],
    [{ fairlead: { servers: { typed: { enabled: false } } } }, "disabled", "user", /^"typed" is disabled: /],
  ])("%j", async (settings, status, reason, message) => {
    await using here = await machine({ [userFile]: settings });
    const { added } = await addAdHocServer(await here.load(), program);
    expect(added.admission).toEqual({
      status,
      reason,
      message: expect.stringMatching(message),
      next: expect.any(String),
    });
  });

  test("so do an administrator's lists", async () => {
    await using here = await machine({
      "etc/settings.json": { mcp: { allowed: ["corporate"] } },
      [userFile]: { mcp: { allowed: ["typed"] } },
    });
    const { added } = await addAdHocServer(await here.load(), program);
    expect(added.admission).toMatchObject({ status: "blocked", reason: "not_allowed" });
  });

  test("but no privilege that was given to the name", async () => {
    const privileges = { trustAnnotations: true, sampling: true, roots: true, machineAuth: true };
    await using here = await machine({ [userFile]: { fairlead: { servers: { typed: privileges } } } });
    const { added } = await addAdHocServer(await here.load(), program);
    expect(added.server.definition).toMatchObject({
      trust: false,
      extras: { trustAnnotations: false, sampling: false, roots: false },
    });
    expect(added.server.definition?.extras).toEqual({
      start: "lazy",
      trustAnnotations: false,
      sampling: false,
      roots: false,
      alwaysLoad: false,
      share: "auto",
    });
  });
});

test("a name that is taken is not taken over", async () => {
  await using here = await machine({
    "etc/settings.json": { mcpServers: { typed: { command: "corporate" } }, mcp: { allowed: ["typed"] } },
  });
  await expect(addAdHocServer(await here.load(), program)).rejects.toMatchObject({
    code: "usage",
    message: 'the settings already have a server "typed"',
  });
});

test.each<[string, object]>([
  ["one that is excluded", { mcp: { excluded: ["typed"] } }],
  ["one that is switched off", { fairlead: { servers: { typed: { enabled: false } } } }],
])("the name of %s is taken all the same", async (_, settings) => {
  await using here = await machine({ [userFile]: { mcpServers: { typed: { command: "mine" } }, ...settings } });
  await expect(addAdHocServer(await here.load(), program)).rejects.toMatchObject({
    code: "usage",
    serverName: "typed",
  });
});

test("the name of a server that waits for approval is taken", async () => {
  await using here = await trustedMachine({ mcpServers: { typed: { command: "ours" } } });
  await expect(addAdHocServer(await here.load(), program)).rejects.toMatchObject({ code: "usage" });
});

test("what is nested too deeply is no entry", async () => {
  await using here = await machine();
  let deep: unknown = "x";
  for (let level = 0; level < 1000; level += 1) deep = [deep];
  await expect(addAdHocServer(await here.load(), { name: "typed", entry: { args: deep } })).rejects.toMatchObject({
    code: "settings_invalid",
    message: 'the entry of "typed" is nested too deeply',
    serverName: "typed",
  });
});

test("a folder that is not trusted cannot keep a name from being used", async () => {
  await using here = await machine({ [workspaceFile]: { mcpServers: { typed: { command: "planted" } } } });
  const { configuration, added } = await addAdHocServer(await here.load(), program);
  expect(configuration.servers).toEqual([added]);
  expect(added).toMatchObject({
    server: { definition: { transport: { command: "node" } } },
    admission: { status: "admitted" },
  });
});

test.each([
  [{ name: "typed", entry: { command: "x", url: "https://example.com" } }, /exactly one of them/],
  [{ name: "a\u200bb", entry: { command: "x" } }, /invisible characters/],
  [{ name: "typed", entry: { url: "https://" } }, /not a URL/],
  [{ name: "typed", entry: { command: "x", env: { A: "${" } } }, /cannot be expanded/],
])("what makes no sense does not start: %j", async (server, message) => {
  await using here = await machine();
  const { added } = await addAdHocServer(await here.load(), server);
  expect(added.admission).toMatchObject({
    status: "disconnected",
    reason: "settings_invalid",
    message: expect.stringMatching(message),
  });
});
