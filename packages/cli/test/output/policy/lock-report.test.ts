import { HostError } from "@fairlead/core/errors";
import type { LockDrift } from "@fairlead/core/policy/lock/lock-drift";
import type { LockFile } from "@fairlead/core/policy/lock/lock-file";
import type { Catalog } from "@fairlead/core/server/catalog";
import { definitionDigest } from "@fairlead/core/server/tool-changes";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { describe, expect, test } from "vitest";
import { checkedDocument, checkedText, printRelock } from "../../../src/commands/lock.ts";
import type { LockCheck, ServerSnapshot } from "../../../src/lock/workspace.ts";
import { writtenOutput } from "../../support/written-output.ts";

const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: "object" } });

function catalog(...tools: readonly ReturnType<typeof tool>[]): Catalog {
  return { tools, prompts: [], resources: [], resourceTemplates: [], dropped: [], repaired: [], truncated: [] };
}

const [old, now] = [tool("read", "old\u001b"), tool("read", "new")];
const locked = { tools: new Map([["read", definitionDigest(old)]]), prompts: new Map<string, string>() };
const lock: LockFile = new Map([["s", { entry: { command: "a" }, ...locked }]]);
const nothing = { added: [], removed: [], changed: [] };
const failed = new HostError("server_exited", "it exited\u001b", { next: "look" });
const unseen: ServerSnapshot = { kind: "unseen", error: failed };

function seen(given: Partial<Extract<ServerSnapshot, { kind: "seen" }>> = {}): ServerSnapshot {
  return { kind: "seen", locked, catalog: catalog(tool("other", "x"), now), remembered: catalog(old), ...given };
}

function check(drift: Partial<LockDrift> | undefined, look?: ServerSnapshot, isWithheld = false): LockCheck {
  const whole = drift && { server: "s", kind: "changed" as const, members: [], tools: nothing, prompts: nothing };
  return { name: "s", lock, drift: whole && { ...whole, ...drift }, look, isWithheld };
}

const everything: Partial<LockDrift> = {
  members: [
    { member: "command", before: "a", after: "b\u001b" },
    { member: "instructions", before: "d1", after: "d2" },
    { member: "version", after: "npm:x@1" },
  ],
  tools: { added: ["t+\u001b"], removed: ["t-"], changed: ["read", "unknown"] },
  prompts: { added: ["p+"], removed: ["p-"], changed: ["p~"] },
};
const difference = [{ member: "description", before: "old\u001b", after: "new" }];
const breaking = [
  "command of the entry has changed",
  "tool t- was removed",
  "tool unknown has changed, and its locked definition is not in the catalog cache",
  "prompt p- was removed",
  "prompt p~ has changed, and its locked definition is not in the catalog cache",
];

describe("lock verify shows the user", () => {
  test("every difference of a server, and which of them break callers", () => {
    expect(checkedText(check(everything, seen())).split("\n")).toEqual([
      "s: differs from the lock file",
      "  command",
      "    - a",
      "    + b␛",
      "  version",
      "    + npm:x@1",
      "  instructions changed",
      "  tool added: t+␛",
      "  tool removed: t-",
      "  tool changed: read",
      "    description",
      "      - old␛",
      "      + new",
      "  tool changed: unknown",
      "  prompt added: p+",
      "  prompt removed: p-",
      "  prompt changed: p~",
      ...breaking.map((change) => `  breaking: ${change}`),
    ]);
  });

  test.each([
    [{ before: "d" }, "removed"],
    [{ after: "d" }, "added"],
    [{ before: "d", after: "e" }, "changed"],
  ])("instructions of which only the digests are known: %j", (digests, word) => {
    const text = checkedText(check({ members: [{ member: "instructions", ...digests }] }));
    expect(text).toBe(`s: differs from the lock file\n  instructions ${word}\n  no breaking change`);
  });

  test("no values of a changed tool whose locked definition is not in the catalog cache", () => {
    const tools = { ...nothing, changed: ["read"] };
    const looks = [
      undefined,
      seen({ remembered: undefined }),
      seen({ remembered: catalog(now) }),
      seen({ catalog: catalog() }),
    ];
    const text = [
      "s: differs from the lock file",
      "  tool changed: read",
      "  breaking: tool read has changed, and its locked definition is not in the catalog cache",
    ].join("\n");
    expect(looks.map((look) => checkedText(check({ tools }, look)))).toEqual(looks.map(() => text));
  });

  test.each<[what: LockCheck, text: string]>([
    [check({ kind: "added" }), "s: in the settings, but not locked"],
    [check({ kind: "added" }, undefined, true), "s: in the settings, but not locked; it was not started"],
    [check({ kind: "removed" }), "s: locked, but no longer in the settings"],
    [check(undefined, unseen), "s: cannot be checked: it exited␛\n  next: look"],
    [
      check({ kind: "added" }, unseen),
      "s: in the settings, but not locked\ns: cannot be checked: it exited␛\n  next: look",
    ],
    [check(undefined, seen()), "s: matches the lock file (1 tool)"],
    [
      check(undefined, seen({ locked: { tools: new Map(), prompts: new Map([["p", "d"]]) } })),
      "s: matches the lock file (0 tools, 1 prompt)",
    ],
    [check({ kind: "removed" }, seen()), "s: locked, but no longer in the settings"],
    [check(undefined), ""],
  ])("%#: the state of one server", (what, text) => {
    expect(checkedText(what)).toBe(text);
  });
});

describe("lock verify --json has", () => {
  test("every difference, and the changed members of each tool that is known", () => {
    expect(checkedDocument(check(everything, seen()))).toEqual({
      name: "s",
      state: "drifted",
      kind: "changed",
      members: everything.members,
      tools: { added: ["t+\u001b"], removed: ["t-"], changed: [{ name: "read", difference }, { name: "unknown" }] },
      prompts: everything.prompts,
      breaking,
    });
  });

  test("only the members that apply", () => {
    expect(checkedDocument(check(undefined, seen()))).toEqual({ name: "s", state: "as_locked" });
    expect(checkedDocument(check(undefined, unseen))).toEqual({
      name: "s",
      state: "unchecked",
      error: { code: "server_exited", message: "it exited\u001b", next: "look" },
    });
    expect(checkedDocument(check({ kind: "added" }, undefined, true))).toEqual({
      name: "s",
      state: "drifted",
      kind: "added",
      members: [],
      tools: nothing,
      prompts: nothing,
      breaking: ["the server is not locked"],
      started: false,
    });
    expect(checkedDocument(check(undefined, seen()))).toEqual({ name: "s", state: "as_locked" });
  });
});

describe("lock shows the user", () => {
  const before: LockFile = new Map([
    ...lock,
    ["gone", { entry: {}, ...locked }],
    ["same", { entry: { command: "c" }, ...locked }],
  ]);
  const relocked = {
    version: "npm:s@2",
    tools: new Map([["read", definitionDigest(now)]]),
    prompts: new Map([["p", "d"]]),
  };
  const looks = new Map<string, ServerSnapshot>([
    ["s", seen({ locked: relocked })],
    ["same", seen()],
    ["down", unseen],
    ["new", seen({ locked: { tools: new Map(), prompts: new Map() } })],
  ]);
  const entries = new Map([
    ["s", { command: "a" }],
    ["same", { command: "c" }],
  ]);
  const workspace = { configuration: {} as Configuration, file: "/w/mcp.lock", entries };

  function printed(given: Partial<Parameters<typeof printRelock>[0]>, json = false) {
    const { context, stdout, stderr } = writtenOutput({ json });
    printRelock({ before, state: "written", looks, only: undefined, ...given }, workspace, context);
    return { stdout: stdout(), stderr: stderr() };
  }

  const counts = ["s: 1 tool, 1 prompt", "same: 1 tool", "new: 0 tools"];
  const changes = [
    "s locked again with these changes:",
    "  version",
    "    + npm:s@2",
    "  tool changed: read",
    "    description",
    "      - old␛",
    "      + new",
    "  prompt added: p",
  ];

  test("what each server has, then what has changed since the previous lock file", () => {
    expect(printed({})).toEqual({
      stdout: [...counts, "gone removed from the lock file: it is no longer in the settings", ...changes, ""].join(
        "\n",
      ),
      stderr: "wrote /w/mcp.lock\n",
    });
  });

  test("only the changes of the server that was named, and that nothing was written", () => {
    expect(printed({ only: "s", state: "unchanged" })).toEqual({
      stdout: [...counts, ...changes, ""].join("\n"),
      stderr: "/w/mcp.lock is up to date\n",
    });
  });

  test("the same as JSON", () => {
    const { stdout, stderr } = printed({}, true);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual({
      schemaVersion: 1,
      file: "/w/mcp.lock",
      state: "written",
      servers: [
        { name: "s", version: "npm:s@2", tools: 1, prompts: 1 },
        { name: "same", tools: 1, prompts: 0 },
        { name: "new", tools: 0, prompts: 0 },
      ],
      changes: [
        { name: "gone", kind: "removed", members: [], tools: nothing, prompts: nothing },
        { name: "new", kind: "added", members: [], tools: nothing, prompts: nothing },
        {
          name: "s",
          kind: "changed",
          members: [{ member: "version", after: "npm:s@2" }],
          tools: { added: [], removed: [], changed: [{ name: "read", difference }] },
          prompts: { ...nothing, added: ["p"] },
        },
      ],
    });
  });
});
