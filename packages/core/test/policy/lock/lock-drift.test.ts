import { describe, expect, test } from "vitest";
import { compareLock, hiddenEntryDrift, isEntryChanged, type LockDrift } from "../../../src/policy/lock/lock-drift.ts";
import type { LockedServer } from "../../../src/policy/lock/lock-file.ts";

const none = { added: [], removed: [], changed: [] };
const same: LockDrift = { server: "s", kind: "changed", members: [], tools: none, prompts: none };

const locked: LockedServer = {
  entry: { command: "npx", args: ["-y", "bank@1.0.0"], env: { A: "1", B: "2" }, trust: true },
  version: "npm:bank@1.0.0",
  instructions: "d1",
  prompts: new Map([["hello", "p1"]]),
  tools: new Map([
    ["pay", "t1"],
    ["ask", "t2"],
  ]),
};
const { entry, ...catalog } = locked;

function drift(now: Partial<LockedServer>): readonly LockDrift[] {
  const { entry: written, ...offered } = { ...locked, ...now };
  return compareLock(new Map([["s", locked]]), new Map([["s", { entry: written, catalog: offered }]]));
}

describe("a server that is locked", () => {
  test("and as it was has no drift, in whatever order its members and tools come", () => {
    expect(drift({})).toEqual([]);
    expect(
      drift({
        entry: { trust: true, env: { B: "2", A: "1" }, args: ["-y", "bank@1.0.0"], command: "npx" },
        tools: new Map([...locked.tools].reverse()),
      }),
    ).toEqual([]);
  });

  test("shows which members of its entry are others, before and after, one by one", () => {
    const now = { command: "node", args: ["-y", "bank@1.0.1"], env: { A: "1", B: "3", C: "4" }, cwd: "x" };
    expect(drift({ entry: now })).toEqual([
      {
        ...same,
        members: [
          { member: "args", before: '["-y","bank@1.0.0"]', after: '["-y","bank@1.0.1"]' },
          { member: "command", before: "npx", after: "node" },
          { member: "cwd", after: "x" },
          { member: "env.B", before: "2", after: "3" },
          { member: "env.C", after: "4" },
          { member: "trust", before: "true" },
        ],
      },
    ]);
  });

  test("shows its version and that its instructions are others", () => {
    const { instructions: _gone, ...without } = locked;
    const now = { entry, catalog: { ...without, version: "npm:bank@2.0.0" } };
    expect(compareLock(new Map([["s", locked]]), new Map([["s", now]]))).toEqual([
      {
        ...same,
        members: [
          { member: "instructions", before: "d1" },
          { member: "version", before: "npm:bank@1.0.0", after: "npm:bank@2.0.0" },
        ],
      },
    ]);
  });

  test("shows which tools and prompts were added, removed and changed", () => {
    const tools = new Map([
      ["pay", "other"],
      ["steal", "t3"],
      ["__proto__", "t4"],
    ]);
    expect(drift({ tools, prompts: new Map([["bye", "p1"]]) })).toEqual([
      {
        ...same,
        tools: { added: ["__proto__", "steal"], removed: ["ask"], changed: ["pay"] },
        prompts: { added: ["bye"], removed: ["hello"], changed: [] },
      },
    ]);
  });

  test("but was not asked can differ by its entry only", () => {
    const now = new Map([["s", { entry: { ...entry, command: "node" } }]]);
    expect(compareLock(new Map([["s", locked]]), now)).toEqual([
      { ...same, members: [{ member: "command", before: "npx", after: "node" }] },
    ]);
    expect(compareLock(new Map([["s", locked]]), new Map([["s", { entry }]]))).toEqual([]);
  });
});

test("a server that is only in the lock file, or only in the settings, is a drift of its own", () => {
  const now = new Map([["new", { entry, catalog }]]);
  expect(compareLock(new Map([["old", locked]]), now)).toEqual([
    { ...same, server: "new", kind: "added" },
    { ...same, server: "old", kind: "removed" },
  ]);
});

test("what would be run is another when any member of the entry is", () => {
  expect(isEntryChanged(entry, { ...entry })).toBe(false);
  expect(isEntryChanged(entry, { ...entry, env: { A: "1" } })).toBe(true);
});

describe("(hidden) in the lock file stands for any text, and for nothing else", () => {
  test.each([
    ["key=(hidden)", "key=abc", true],
    ["key=(hidden)", "key=", true],
    ["key=(hidden)", "token=abc", false],
    ["(hidden);end", "abc;end", true],
    ["(hidden);end", "abc;ended", false],
    // The texts around a secret must not share characters.
    ["a(hidden)a", "aa", true],
    ["a(hidden)a", "a", false],
    ["a=(hidden);b=(hidden);c", "a=1;b=2;c", true],
    ["a=(hidden);b=(hidden);c", "a=1;b=;c", true],
    ["a=(hidden);b=(hidden);c", "a=1;d=2;c", false],
    ["a(hidden)bc(hidden)cd", "abcd", false],
    ["(hidden)x(hidden)x(hidden)", "x", false],
    ["(hidden)x(hidden)x(hidden)", "x and x", true],
    ["plain", "plain", true],
    ["plain", "plainer", false],
  ])("%s and %s", (shown, text, isSame) => {
    const members = (locked: object, written: object): readonly string[] =>
      hiddenEntryDrift({ url: "u", ...locked }, { url: "u", ...written }).map(({ member }) => member);
    expect(members({ value: shown }, { value: text })).toEqual(isSame ? [] : ["entry.value"]);
    expect(members({ args: ["-y", shown] }, { args: ["-y", text] })).toEqual(isSame ? [] : ["entry.args"]);
    expect(members({ args: [shown] }, { args: [text, text] })).toEqual(["entry.args"]);
  });

  test("the new value is not shown, the description does not count, and a hidden member hides whatever it has", () => {
    const before = { command: "npx", cwd: "old", gone: "1", env: "(hidden)" };
    const after = { command: "npx", cwd: "new", came: "2", env: { A: ["x"] }, description: "Words." };
    const changed = "(changed; to see the change: fairlead lock verify)";
    expect(hiddenEntryDrift(before, after)).toEqual([
      { member: "entry.came", after: changed },
      { member: "entry.cwd", before: "old", after: changed },
      { member: "entry.gone", before: "1" },
    ]);
    expect(hiddenEntryDrift({ env: "(hidden)" }, {})).toEqual([{ member: "entry.env", before: "(hidden)" }]);
  });
});
