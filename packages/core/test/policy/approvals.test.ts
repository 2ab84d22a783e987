import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir, readFile, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { scaled, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import {
  approvedTool,
  forgetApprovalsNamed,
  forgetToolApproval,
  loadApprovedTools,
  readToolApprovals,
  saveToolApproval,
} from "../../src/policy/approvals.ts";
import { ToolConfirmationOutcome } from "../../src/policy/confirmation.ts";
import type { CatalogTool } from "../../src/server/catalog.ts";
import { definitionDigest, definitionOf } from "../../src/server/tool-changes.ts";
import { approve, readApprovals } from "../../src/trust/approvals.ts";
import { buildProgram } from "../support/build-program.ts";
import { asked, desk, question } from "../support/consent-desk.ts";

const identity = { server: "s", fingerprint: "f1" };
const pay: CatalogTool = { name: "pay", description: "Pays.", inputSchema: { type: "object" } };
const now = new Date("2026-01-01T00:00:00Z");

test("an approval is kept with what it is for, and beside the approvals of workspaces", async () => {
  await using folder = await temporaryFolder();
  await approve(folder.path, "/a", [{ name: "x", fingerprint: "f" }], now);
  await saveToolApproval(folder.path, identity, pay, now);
  const [approval, ...others] = await readToolApprovals(folder.path);
  expect([approval, others]).toEqual([
    {
      ...identity,
      tool: "pay",
      digest: definitionDigest(pay),
      approvedAt: now.toISOString(),
      definition: '{"description":"Pays.","inputSchema":{"type":"object"},"name":"pay"}',
    },
    [],
  ]);
  expect(approval && approvedTool(approval)).toEqual(pay);
  await approve(folder.path, "/b", [{ name: "x", fingerprint: "f" }], now);
  expect(await readToolApprovals(folder.path)).toEqual([approval]);
  expect([...(await readApprovals(folder.path)).keys()].sort()).toEqual(["/a", "/b"]);
  expect((await stat(join(folder.path, "approvals.json"))).mode & 0o777).toBe(0o600);
});

test("a definition is kept with its approval as long as it is not too long to be shown", async () => {
  await using folder = await temporaryFolder();
  const long = (bytes: number): CatalogTool => {
    const rest = Buffer.byteLength(definitionOf({ ...pay, description: "" }));
    return { ...pay, description: "d".repeat(bytes - rest) };
  };
  expect(await saveToolApproval(folder.path, identity, long(16_384), now)).toHaveProperty("definition");
  expect(await saveToolApproval(folder.path, identity, long(16_385), now)).toMatchObject({ definition: undefined });
  const [kept, ...others] = await readToolApprovals(folder.path);
  expect([kept?.digest, others]).toEqual([definitionDigest(long(16_385)), []]);
  expect(kept && approvedTool(kept)).toBeUndefined();
});

test("what an older version kept is still there", async () => {
  await using folder = await temporaryFolder();
  const old = { fingerprint: "f", approvedAt: now.toISOString() };
  await folder.write("approvals.json", { "/a": { x: old }, version: { x: old } });
  await saveToolApproval(folder.path, identity, pay, now);
  const workspaces = [...(await readApprovals(folder.path))].map(([root, servers]) => [root, [...servers]]);
  expect(workspaces).toEqual([
    ["/a", [["x", old]]],
    ["version", [["x", old]]],
  ]);
});

test("the newest replaces the older, another entry or workspace is another server", async () => {
  await using folder = await temporaryFolder();
  const elsewhere = { ...identity, workspace: "/w" };
  for (const who of [identity, { ...identity, fingerprint: "f2" }, elsewhere, identity])
    await saveToolApproval(folder.path, who, pay, now);
  expect(await readToolApprovals(folder.path)).toHaveLength(3);
  await forgetToolApproval(folder.path, elsewhere, "pay");
  await forgetToolApproval(folder.path, identity, "other");
  expect((await readToolApprovals(folder.path)).map(({ fingerprint }) => fingerprint)).toEqual(["f1", "f2"]);
});

test.each(["__proto__", "constructor", "a.b", " ", "x".repeat(200)])(
  "a server and a tool may be called %j",
  async (name) => {
    await using folder = await temporaryFolder();
    const tool = { name, inputSchema: {} };
    await saveToolApproval(folder.path, { server: name, fingerprint: "f" }, tool, now);
    expect((await readToolApprovals(folder.path)).map(({ server, tool: own }) => [server, own])).toEqual([
      [name, name],
    ]);
  },
);

test("however much is approved, the file stays small enough to be read, and the newest is in it", async () => {
  await using folder = await temporaryFolder();
  const long = (index: number, length: number): CatalogTool => ({
    ...pay,
    name: `t${index}`,
    description: "\u0000".repeat(length),
  });
  await saveToolApproval(folder.path, identity, long(0, 20_000), now);
  expect((await readToolApprovals(folder.path))[0]?.definition).toBeUndefined();
  // One after the other would take a while: the file as it would be then.
  const many = Array.from({ length: 500 }, (_, index) => ({
    ...identity,
    tool: `t${index}`,
    digest: "d",
    approvedAt: now.toISOString(),
    definition: "x".repeat(8000),
  }));
  await folder.write("approvals.json", { version: 2, workspaces: {}, tools: many });
  await saveToolApproval(folder.path, identity, long(1000, 2000), now);
  const kept = await readToolApprovals(folder.path);
  expect(kept[0]?.tool).toBe("t1000");
  expect(kept.length).toBeLessThan(200);
  expect((await readFile(join(folder.path, "approvals.json"))).length).toBeLessThan(2_000_000);
});

test("two processes that approve at the same time: everything is there", async () => {
  await using folder = await temporaryFolder();
  const program = await buildProgram("approve-tools", folder.path);
  const state = join(folder.path, "state");
  const count = scaled(100);
  const run = promisify(execFile);
  await Promise.all(["a", "b"].map((prefix) => run(process.execPath, [program, state, prefix, String(count)])));
  const names = ["a", "b"].flatMap((prefix) => Array.from({ length: count }, (_, index) => `${prefix}${index}`));
  expect((await readToolApprovals(state)).map(({ tool }) => tool).sort()).toEqual(names.sort());
  expect(await readdir(state)).toEqual(["approvals.json"]);
});

test("a saved approval is there in the next run, and void once the entry or the definition is another", async () => {
  await using folder = await temporaryFolder();
  const read = asked("files", "read");
  {
    await using at = await desk({ folder });
    await question(at.ask(read, {})).onConfirm(ToolConfirmationOutcome.ProceedAlwaysAndSave);
  }
  {
    await using at = await desk({ folder });
    expect(at.verdict(read)).toMatchObject({
      decision: "allow",
      rule: { tier: "user", origin: { source: "approval" } },
    });
    expect(at.verdict(asked("files", "write")).decision).toBe("ask_user");
    at.marks.see("files", [{ name: "read", inputSchema: {} }]);
    expect(at.verdict(read).decision).toBe("ask_user");
  }
  await using at = await desk({ folder, fingerprint: "another" });
  expect(at.verdict(read).decision).toBe("ask_user");
});

test("approvals that cannot be read approve nothing, can be added to no more, and say what to do", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "approvals.json");
  await symlink(file, file);
  const identityOf = () => identity;
  const approved = await loadApprovedTools({ state: folder.path, identityOf, now: () => now });
  expect(approved.problems).toMatchObject([
    {
      severity: "error",
      code: "settings_invalid",
      message: expect.stringContaining(file),
      next: expect.stringContaining(file),
    },
  ]);
  expect([approved.all(), approved.find("s", "pay"), approved.canSave("s")]).toEqual([[], undefined, false]);
});

test.each([
  ["is there", "state", true],
  ["is yet to be made", "state/deep/er", true],
  ["is a file", "file", false],
  ["would have to be made in a file", "file/state", false],
])("approvals can be kept if their folder %s: %s", async (_, path, expected) => {
  await using folder = await temporaryFolder();
  await folder.write("state/.keep", "");
  await folder.write("file", "");
  const identityOf = () => identity;
  const approved = await loadApprovedTools({ state: join(folder.path, path), identityOf, now: () => now });
  expect(approved.canSave("s")).toBe(expected);
});

test("all approvals of a tool's name are removed, of every definition and workspace, and counted", async () => {
  await using folder = await temporaryFolder();
  const save = (owner: { server: string; fingerprint: string; workspace?: string }, name: string) =>
    saveToolApproval(folder.path, owner, { ...pay, name }, now);
  for (const owner of [identity, { ...identity, fingerprint: "f2" }, { ...identity, workspace: "/w" }])
    await save(owner, "pay");
  await save(identity, "read");
  await save({ ...identity, server: "t" }, "pay");
  expect(await forgetApprovalsNamed(folder.path, "s", "none")).toBe(0);
  expect(await readToolApprovals(folder.path)).toHaveLength(5);
  expect(await forgetApprovalsNamed(folder.path, "s", "pay")).toBe(3);
  expect((await readToolApprovals(folder.path)).map(({ server, tool }) => `${server}.${tool}`)).toEqual([
    "t.pay",
    "s.read",
  ]);
  expect(await forgetApprovalsNamed(folder.path, "s", "pay")).toBe(0);
});

test.each([["null"], ["7"], ["{}"], ['{"name":"pay"}'], ['{"inputSchema":{}}'], ["{"]])(
  "a saved definition %s is damaged",
  (definition) => {
    const approval = { ...identity, tool: "pay", digest: definitionDigest(pay), approvedAt: "", definition };
    expect(approvedTool(approval)).toBeUndefined();
    expect(approvedTool({ ...approval, definition: definitionOf(pay) })).toEqual(pay);
    expect(approvedTool({ ...approval, definition: definitionOf(pay), digest: "other" })).toBeUndefined();
  },
);

test.each(['{"name":"pay"}', '{"inputSchema":{}}'])(
  "a saved %s is not a tool definition, even if its digest is right",
  (text) => {
    const digest = createHash("sha256").update(text).digest("hex");
    expect(approvedTool({ ...identity, tool: "pay", digest, approvedAt: "", definition: text })).toBeUndefined();
  },
);

test("a full file makes room by removing the oldest approvals, and keeps no older small one in place of a newer large one", async () => {
  await using folder = await temporaryFolder();
  const approval = { ...identity, digest: "d", approvedAt: now.toISOString() };
  const [large, small] = [
    { ...approval, tool: "large", definition: "x".repeat(1_048_300) },
    { ...approval, tool: "small" },
  ];
  await folder.write("approvals.json", { version: 2, workspaces: {}, tools: [large, small] });
  await saveToolApproval(folder.path, identity, pay, now);
  expect((await readToolApprovals(folder.path)).map(({ tool }) => tool)).toEqual(["pay"]);
});

test("an approval that is too large alone is refused, and removes none", async () => {
  await using folder = await temporaryFolder();
  await saveToolApproval(folder.path, identity, pay, now);
  const large = saveToolApproval(folder.path, identity, { ...pay, name: "x".repeat(1_048_576) }, now);
  await expect(large).rejects.toMatchObject({ code: "too_large" });
  expect(await readToolApprovals(folder.path)).toHaveLength(1);
});

test("approvals for one client are stored where earlier versions do not look, and read in the order of their times", async () => {
  await using folder = await temporaryFolder();
  const owners = [identity, { ...identity, client: "codex" }, { ...identity, client: "cursor" }, identity];
  for (const [at, owner] of owners.entries()) await saveToolApproval(folder.path, owner, pay, new Date(at));
  expect((await readToolApprovals(folder.path)).map(({ client }) => client)).toEqual([undefined, "cursor", "codex"]);
  const { tools } = JSON.parse(await readFile(join(folder.path, "approvals.json"), "utf8")) as { tools: object[] };
  expect(tools.map((approval) => Object.keys(approval).includes("client"))).toEqual([false]);
  expect(await forgetApprovalsNamed(folder.path, "s", "pay", "codex")).toBe(1);
  expect(await forgetApprovalsNamed(folder.path, "s", "pay")).toBe(1);
  expect((await readToolApprovals(folder.path)).map(({ client }) => client)).toEqual(["cursor"]);
});

test.each([[{}], [[7]], [[{ server: "s", tool: "pay", client: 7 }]]])(
  "a file whose approvals for clients are %j is corrupt and counts as empty",
  async (clientTools) => {
    await using folder = await temporaryFolder();
    await folder.write("approvals.json", { version: 2, workspaces: {}, tools: [], clientTools });
    expect(await readToolApprovals(folder.path)).toEqual([]);
  },
);

test("forgetting an approval that does not exist writes no file", async () => {
  await using folder = await temporaryFolder();
  await forgetToolApproval(folder.path, identity, "pay");
  expect(await forgetApprovalsNamed(folder.path, "s", "pay")).toBe(0);
  expect(await readdir(folder.path)).toEqual([]);
});

test.each([
  [0, ["pay", "old"]],
  [1, ["pay"]],
])(
  "Fairlead keeps at most 1048576 bytes of approvals: with %i bytes more than that, it keeps those of %j",
  async (more, expected) => {
    await using folder = await temporaryFolder();
    const newest = await saveToolApproval(folder.path, identity, pay, now);
    const old = { ...identity, tool: "old", digest: "d", approvedAt: now.toISOString(), definition: "" };
    const left = 1_048_576 - Buffer.byteLength(JSON.stringify(newest)) - Buffer.byteLength(JSON.stringify(old));
    const tools = [{ ...old, definition: "x".repeat(left + more) }];
    await folder.write("approvals.json", { version: 2, workspaces: {}, tools });
    await saveToolApproval(folder.path, identity, pay, now);
    expect((await readToolApprovals(folder.path)).map(({ tool }) => tool)).toEqual(expected);
  },
);
