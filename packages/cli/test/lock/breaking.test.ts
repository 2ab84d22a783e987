import { HostError } from "@fairlead/core/errors";
import type { LockDrift } from "@fairlead/core/policy/lock/lock-drift";
import { promptDigest } from "@fairlead/core/policy/lock/lock-file";
import type { Catalog } from "@fairlead/core/server/catalog";
import { definitionDigest } from "@fairlead/core/server/tool-changes";
import { expect, test } from "vitest";
import { breakingDrift, errorOf, type LockCheck } from "../../src/lock/workspace.ts";

const required = true;
const tool = (name: string, ...wanted: readonly string[]) => ({
  name,
  inputSchema: { type: "object", properties: { path: { type: "string" } }, required: wanted },
});
const prompt = (name: string, ...wanted: readonly { readonly name: string; readonly required: boolean }[]) => ({
  name,
  arguments: wanted,
});
const catalog = (tools: object[], prompts: object[]): Catalog => ({ tools, prompts }) as unknown as Catalog;

const nothing = { added: [], removed: [], changed: [] };
const locked = [tool("read"), prompt("review", { name: "a", required: false }, { name: "b", required })] as const;
const lock: LockCheck["lock"] = new Map([
  [
    "files",
    {
      entry: {},
      tools: new Map([["read", definitionDigest(locked[0])]]),
      prompts: new Map([["review", promptDigest(locked[1])]]),
    },
  ],
]);

function check(drift: Partial<LockDrift> | undefined, seen?: { before: Catalog | undefined; now: Catalog }): LockCheck {
  return {
    name: "files",
    lock,
    isWithheld: false,
    drift: drift && { server: "files", kind: "changed", members: [], tools: nothing, prompts: nothing, ...drift },
    look: seen && {
      kind: "seen",
      locked: { tools: new Map(), prompts: new Map() },
      catalog: seen.now,
      remembered: seen.before,
    },
  };
}

test.each<[Partial<LockDrift> | undefined, readonly string[]]>([
  [undefined, []],
  [{ kind: "added" }, ["the server is not locked"]],
  [{ kind: "removed" }, ["the server is no longer in the settings"]],
  [{ members: [{ member: "version" }, { member: "instructions" }] }, []],
  [
    { members: [{ member: "command" }, { member: "env.A" }] },
    ["command of the entry has changed", "env.A of the entry has changed"],
  ],
  [
    { tools: { ...nothing, removed: ["x", "y"], added: ["z"] }, prompts: { ...nothing, removed: ["p"], added: ["q"] } },
    ["tool x was removed", "tool y was removed", "prompt p was removed"],
  ],
  [
    { tools: { ...nothing, changed: ["read"] }, prompts: { ...nothing, changed: ["review"] } },
    [
      "tool read has changed, and its locked definition is not in the catalog cache",
      "prompt review has changed, and its locked definition is not in the catalog cache",
    ],
  ],
])("the drift %j of a server that was not reached breaks callers: %j", (drift, sentences) => {
  expect(breakingDrift(check(drift))).toEqual(sentences);
});

const changed = { tools: { ...nothing, changed: ["read"] }, prompts: { ...nothing, changed: ["review"] } };
const others = [tool("write"), prompt("other")] as const;

test("a changed tool or prompt is compared with its locked definition", () => {
  const before = catalog([others[0], locked[0]], [others[1], locked[1]]);
  const next = prompt("review", { name: "a", required }, { name: "c", required }, { name: "d", required: false });
  const now = catalog([others[0], tool("read", "path")], [others[1], next]);
  expect(breakingDrift(check(changed, { before, now }))).toEqual([
    expect.stringMatching(/^tool read: .*path/),
    "prompt review: the argument a is now required",
    "prompt review: the argument c is now required",
    "prompt review: the argument b was removed",
  ]);
  const harmless = catalog([{ ...locked[0], description: "x" }], [prompt("review", ...locked[1].arguments)]);
  expect(breakingDrift(check(changed, { before, now: harmless }))).toEqual([]);
});

test("a parameter that is now required but has a default breaks no caller", () => {
  const before = catalog([locked[0]], [locked[1]]);
  const inputSchema = { type: "object", properties: { path: { type: "string", default: "." } }, required: ["path"] };
  const now = catalog([{ name: "read", inputSchema }], [locked[1]]);
  expect(breakingDrift(check({ tools: { ...nothing, changed: ["read"] } }, { before, now }))).toEqual([]);
});

test("a remembered definition that is not the locked one is not compared", () => {
  const now = catalog([tool("read", "path")], [prompt("review")]);
  const unknown = [
    "tool read has changed, and its locked definition is not in the catalog cache",
    "prompt review has changed, and its locked definition is not in the catalog cache",
  ];
  const earlier = catalog([tool("read", "other")], [prompt("review")]);
  for (const before of [undefined, earlier]) expect(breakingDrift(check(changed, { before, now }))).toEqual(unknown);
  const before = catalog([locked[0]], [locked[1]]);
  expect(breakingDrift(check(changed, { before, now: catalog([], []) }))).toEqual(unknown);
});

test("only a server that could not be reached has an error", () => {
  const error = new HostError("unreachable", "no");
  expect(errorOf({ ...check(undefined), look: { kind: "unseen", error } })).toBe(error);
  expect(errorOf(check(undefined))).toBeUndefined();
  expect(errorOf(check(undefined, { before: undefined, now: catalog([], []) }))).toBeUndefined();
});
