import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { approve, readApprovals, readApprovalsFile, revoke } from "../../src/trust/approvals.ts";

const first = new Date("2026-01-01T00:00:00Z");
const second = new Date("2026-01-02T00:00:00Z");

test("nothing is approved where nothing was kept", async () => {
  await using folder = await temporaryFolder();
  expect(await readApprovals(join(folder.path, "state"))).toEqual(new Map());
});

test("approvals are kept by workspace and server, the newest replaces the older", async () => {
  await using folder = await temporaryFolder();
  await approve(
    folder.path,
    "/a",
    [
      { name: "x", fingerprint: "f1" },
      { name: "y", fingerprint: "f2" },
    ],
    first,
  );
  await approve(folder.path, "/b", [{ name: "x", fingerprint: "f3" }], first);
  await approve(folder.path, "/a", [{ name: "x", fingerprint: "f4" }], second);
  expect(await readApprovals(folder.path)).toEqual(
    new Map([
      [
        "/a",
        new Map([
          ["x", { fingerprint: "f4", approvedAt: second.toISOString() }],
          ["y", { fingerprint: "f2", approvedAt: first.toISOString() }],
        ]),
      ],
      ["/b", new Map([["x", { fingerprint: "f3", approvedAt: first.toISOString() }]])],
    ]),
  );
});

test("the newest approvals come first in the file, and those of one time in the order in which they were given", async () => {
  await using folder = await temporaryFolder();
  const named = (...names: readonly string[]) => names.map((name) => ({ name, fingerprint: "f" }));
  await approve(folder.path, "/a", named("x", "y", "z"), first);
  await approve(folder.path, "/b", named("x"), first);
  await approve(folder.path, "/a", named("y"), second);
  await approve(folder.path, "/c", named("x"), first);
  const { workspaces } = await readApprovalsFile(folder.path);
  expect(Object.entries(workspaces).map(([root, servers]) => [root, Object.keys(servers)])).toEqual([
    ["/a", ["y", "x", "z"]],
    ["/b", ["x"]],
    ["/c", ["x"]],
  ]);
});

test("an approval from before programs were covered is completed by the next one, and the newest set of files comes first", async () => {
  await using folder = await temporaryFolder();
  const server = { name: "x", fingerprint: "f" };
  await approve(folder.path, "/a", [server], first);
  const files = ["/1", "/2", "/1", "/3"].map((file) => [{ file }]);
  for (const programs of files) await approve(folder.path, "/a", [{ ...server, programs }], second);
  expect((await readApprovals(folder.path)).get("/a")?.get("x")).toEqual({
    fingerprint: "f",
    approvedAt: second.toISOString(),
    programs: [[{ file: "/3" }], [{ file: "/1" }], [{ file: "/2" }]],
  });
  await approve(folder.path, "/a", [{ ...server, fingerprint: "g", programs: [{ file: "/4" }] }], second);
  expect((await readApprovals(folder.path)).get("/a")?.get("x")?.programs).toEqual([[{ file: "/4" }]]);
});

test("no other user can read or write them", async () => {
  await using folder = await temporaryFolder();
  const state = join(folder.path, "state");
  await approve(state, "/a", [{ name: "x", fingerprint: "f1" }]);
  expect((await stat(state)).mode & 0o777).toBe(0o700);
  expect((await stat(join(state, "approvals.json"))).mode & 0o777).toBe(0o600);
});

test.each(["__proto__", "constructor", "toString", ""])("a server or a folder may be called %j", async (name) => {
  await using folder = await temporaryFolder();
  await approve(folder.path, name, [{ name, fingerprint: "f1" }], first);
  const approvals = await readApprovals(folder.path);
  expect([...approvals].map(([root, servers]) => [root, [...servers]])).toEqual([
    [name, [[name, { fingerprint: "f1", approvedAt: first.toISOString() }]]],
  ]);
  expect(await revoke(folder.path, name, [name])).toEqual([name]);
  expect(await readApprovals(folder.path)).toEqual(new Map());
});

test.each(["__proto__", "constructor", "toString"])("no server called %j is approved by accident", async (name) => {
  await using folder = await temporaryFolder();
  await approve(folder.path, "/a", [{ name: "x", fingerprint: "f1" }]);
  const approvals = await readApprovals(folder.path);
  expect([approvals.get(name), approvals.get("/a")?.get(name)]).toEqual([undefined, undefined]);
});

test("revoking names what it took away", async () => {
  await using folder = await temporaryFolder();
  const servers = ["x", "y", "z"].map((name) => ({ name, fingerprint: "f" }));
  await approve(folder.path, "/a", servers);
  expect(await revoke(folder.path, "/b")).toEqual([]);
  expect(await revoke(folder.path, "/a", ["y", "unknown"])).toEqual(["y"]);
  expect([...((await readApprovals(folder.path)).get("/a")?.keys() ?? [])]).toEqual(["x", "z"]);
  expect(await revoke(folder.path, "/a")).toEqual(["x", "z"]);
  expect(await readApprovals(folder.path)).toEqual(new Map());
});

test("revoking what was never approved writes nothing", async () => {
  await using folder = await temporaryFolder();
  expect(await revoke(folder.path, "/a")).toEqual([]);
  await approve(folder.path, "/a", [{ name: "x", fingerprint: "f" }]);
  const before = await folder.read("approvals.json");
  expect(await revoke(folder.path, "/a", ["y"])).toEqual([]);
  expect(await folder.read("approvals.json")).toBe(before);
  expect(await readdir(folder.path)).toEqual(["approvals.json"]);
});

test("approvals made at the same time are all kept", async () => {
  await using folder = await temporaryFolder();
  const names = Array.from({ length: 20 }, (_, index) => `server-${index}`);
  await Promise.all(names.map((name) => approve(folder.path, "/a", [{ name, fingerprint: name }])));
  expect([...((await readApprovals(folder.path)).get("/a")?.keys() ?? [])].sort()).toEqual(names.sort());
});

test.each([
  ["not JSON", "{"],
  ["a list", "[]"],
  ["no approvals inside", '{"/a": {"x": "f1"}}'],
  ["an approval that says nothing", '{"/a": {"x": {"approvedAt": "2026-01-01T00:00:00Z"}}}'],
  ["a fingerprint that is no text", '{"/a": {"x": {"fingerprint": 1, "approvedAt": "2026-01-01T00:00:00Z"}}}'],
])("a file that is %s approves nothing and is set aside", async (_, content) => {
  await using folder = await temporaryFolder();
  await folder.write("approvals.json", content);
  expect(await readApprovals(folder.path)).toEqual(new Map());
  expect((await readdir(folder.path)).filter((name) => name.startsWith("approvals.json.corrupt-"))).toHaveLength(1);
  await approve(folder.path, "/a", [{ name: "y", fingerprint: "f2" }]);
  expect([...((await readApprovals(folder.path)).get("/a")?.keys() ?? [])]).toEqual(["y"]);
});

describe("in its second version, a file", () => {
  const approval = { fingerprint: "f", approvedAt: "2026-01-01T00:00:00Z" };
  const workspaces = { "/a": { x: approval } };
  const tool = { ...approval, server: "s", tool: "t", digest: "d" };
  const whole = { ...tool, workspace: "/a", definition: "{}" };

  test("is taken as it is", async () => {
    await using folder = await temporaryFolder();
    const skills = [{ ...whole, kind: "skill" }];
    const hosts = [{ ...whole, kind: "host" }];
    const ofClients = [{ ...whole, client: "codex" }];
    const file = { version: 2, workspaces, tools: [tool, whole], clientTools: ofClients, skills, hosts };
    await folder.write("approvals.json", file);
    expect(await readApprovalsFile(folder.path)).toEqual(file);
    await approve(folder.path, "/b", [{ name: "y", fingerprint: "f" }]);
    const { tools, clientTools } = await readApprovalsFile(folder.path);
    expect({ tools, clientTools }).toEqual({ tools: file.tools, clientTools: file.clientTools });
  });

  test("of an earlier release has no approvals for clients", async () => {
    await using folder = await temporaryFolder();
    const file = { version: 2, workspaces, tools: [tool] };
    await folder.write("approvals.json", file);
    expect(await readApprovalsFile(folder.path)).toEqual({ ...file, clientTools: [], skills: [], hosts: [] });
  });

  test.each<[string, object]>([
    ["without workspaces", { version: 2, tools: [] }],
    ["without tools", { version: 2, workspaces }],
    ["with tools that are no list", { version: 2, workspaces, tools: {} }],
    ["of another version", { version: 3, workspaces, tools: [tool] }],
    ["with workspaces that hold no servers", { version: 2, workspaces: { "/a": [] }, tools: [] }],
    ["with an approval that has no date", { version: 2, workspaces: { "/a": { x: { fingerprint: "f" } } }, tools: [] }],
    [
      "with a good approval and one that has no date",
      { version: 2, workspaces: { "/a": { x: approval, y: { fingerprint: "f" } } }, tools: [] },
    ],
    [
      "with a good workspace and one that holds no servers",
      { version: 2, workspaces: { ...workspaces, "/b": [] }, tools: [] },
    ],
    ["with a tool that is none", { version: 2, workspaces, tools: [tool, null] }],
    ...[
      7,
      [7],
      [[{ file: "/a" }], 7],
      [[{ file: "/a" }, null]],
      [[{ file: "/a" }, { file: 7 }]],
      [[{ file: "/a" }, { file: "/b", digest: 7 }]],
    ].map((programs): [string, object] => [
      `with the programs ${JSON.stringify(programs)}`,
      { version: 2, workspaces: { "/a": { x: { fingerprint: "f", approvedAt: "2026", programs } } }, tools: [] },
    ]),
    ...["fingerprint", "approvedAt", "server", "tool", "digest", "workspace", "definition"].map(
      (key): [string, object] => [
        `whose tool has no text as ${key}`,
        { version: 2, workspaces, tools: [{ ...whole, [key]: 7 }] },
      ],
    ),
  ])("%s approves nothing", async (_, content) => {
    await using folder = await temporaryFolder();
    await folder.write("approvals.json", content);
    expect(await readApprovalsFile(folder.path)).toEqual({
      version: 2,
      workspaces: {},
      tools: [],
      clientTools: [],
      skills: [],
      hosts: [],
    });
  });
});

test("the programs of an approval are kept as they are", async () => {
  await using folder = await temporaryFolder();
  const programs = [[{ file: "/a", digest: "d" }, { file: "/b" }], []];
  const workspaces = { "/a": { x: { fingerprint: "f", approvedAt: "2026", programs } } };
  await folder.write("approvals.json", { version: 2, workspaces, tools: [] });
  expect(await readApprovalsFile(folder.path)).toEqual({
    version: 2,
    workspaces,
    tools: [],
    clientTools: [],
    skills: [],
    hosts: [],
  });
});

test("of a workspace with very many servers, those approved longest ago are forgotten first", async () => {
  await using folder = await temporaryFolder();
  const servers = Array.from({ length: 1000 }, (_, index) => {
    const approvedAt = new Date(first.getTime() + index * 1000).toISOString();
    return [`s${index}`, { fingerprint: "f", approvedAt }];
  });
  await folder.write("approvals.json", { "/a": Object.fromEntries(servers) });
  await approve(folder.path, "/a", [{ name: "new", fingerprint: "f" }], second);
  const kept = (await readApprovals(folder.path)).get("/a");
  expect([kept?.size, kept?.has("s0"), kept?.has("s1"), kept?.has("new")]).toEqual([1000, false, true, true]);
});

test("the workspaces approved longest ago are forgotten first", async () => {
  await using folder = await temporaryFolder();
  const at = (index: number) => new Date(first.getTime() + index * 1000).toISOString();
  const full = Array.from({ length: 1000 }, (_, index) => [
    `/${index}`,
    { x: { fingerprint: "f", approvedAt: at(index) } },
  ]);
  await folder.write("approvals.json", Object.fromEntries(full));
  await approve(folder.path, "/new", [{ name: "x", fingerprint: "f" }], second);
  const approvals = await readApprovals(folder.path);
  expect([approvals.size, approvals.has("/0"), approvals.has("/1"), approvals.has("/new")]).toEqual([
    1000,
    false,
    true,
    true,
  ]);
});
