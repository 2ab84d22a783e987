import { describe, expect, test } from "vitest";
import { PolicyEngine } from "../../src/policy/policy-engine.ts";
import { builtIn, defaultRules } from "../../src/policy/rules/built-in-rules.ts";
import { exactName, namePattern } from "../../src/policy/rules/name-pattern.ts";
import type { CheckRequest, Decision, PolicyRule } from "../../src/policy/rules/rule.ts";
import { request, rule, trust } from "../support/sample-rules.ts";

const [adminAllows, adminAsks, adminDenies] = [
  rule("administrator", "allow"),
  rule("administrator", "ask_user"),
  rule("administrator", "deny"),
];
const [userAllows, userAsks, userDenies] = [rule("user", "allow"), rule("user", "ask_user"), rule("user", "deny")];
const [spaceAllows, spaceAsks, spaceDenies] = [
  rule("workspace", "allow"),
  rule("workspace", "ask_user"),
  rule("workspace", "deny"),
];
const [talkAllows, talkAsks, talkDenies] = [
  rule("conversation", "allow"),
  rule("conversation", "ask_user"),
  rule("conversation", "deny"),
];
const usuallyAllows = rule("default", "allow");
const userCloses = rule("user", "deny", { isGate: true });
const spaceCloses = rule("workspace", "deny", { isGate: true });
const userAsksFirst = rule("user", "ask_user", { priority: 11 });
const byDefault = defaultRules.tool;

/** Which rule decides where nothing else speaks: without trust, and with it. */
const deciding: readonly (readonly [readonly PolicyRule[], PolicyRule, PolicyRule])[] = [
  [[], byDefault, trust],
  [[adminAllows], adminAllows, adminAllows],
  [[adminAsks], adminAsks, adminAsks],
  [[adminDenies], adminDenies, adminDenies],
  [[userAllows], userAllows, userAllows],
  [[userAsks], userAsks, userAsks],
  [[userDenies], userDenies, userDenies],
  [[spaceAllows], byDefault, trust],
  [[spaceAsks], spaceAsks, spaceAsks],
  [[spaceDenies], spaceDenies, spaceDenies],
  [[talkAllows], talkAllows, trust],
  [[talkAsks], talkAsks, talkAsks],
  [[talkDenies], talkDenies, talkDenies],
  [[usuallyAllows], usuallyAllows, trust],
  [[usuallyAllows, talkAsks], talkAsks, talkAsks],
  [[usuallyAllows, spaceAsks], spaceAsks, spaceAsks],
  // The strongest tier decides, stricter or not …
  [[userDenies, adminAllows], adminAllows, adminAllows],
  [[userDenies, adminAsks], adminAsks, adminAsks],
  [[spaceDenies, userAllows], userAllows, userAllows],
  [[talkDenies, userAsks], userAsks, userAsks],
  // … but a workspace only tightens …
  [[talkAllows, spaceAsks], spaceAsks, spaceAsks],
  [[talkDenies, spaceAsks], talkDenies, talkDenies],
  [[talkDenies, spaceDenies], spaceDenies, spaceDenies],
  [[talkAllows, spaceAllows], talkAllows, trust],
  // … and what a setting closes, no tier opens.
  [[adminAllows, userAllows, userCloses], userCloses, userCloses],
  [[adminAllows, userAllows, spaceCloses], spaceCloses, spaceCloses],
  [[spaceCloses, userCloses, adminDenies], userCloses, userCloses],
  // Within a tier: priority, then the stricter.
  [[userAllows, userAsksFirst], userAsksFirst, userAsksFirst],
  [[userDenies, userAsksFirst], userAsksFirst, userAsksFirst],
  [[userAllows, userDenies, userAsks], userDenies, userDenies],
];

const readOnly = { annotations: { readOnlyHint: true } };

/** Modes and annotations, each with a user to ask and then without one. */
const circumstances: readonly (readonly [string, Partial<CheckRequest>])[] = [
  ["default", {}],
  ["default, read-only", { ...readOnly, trustsAnnotations: true }],
  ["plan", { mode: "plan" }],
  ["plan, a claim that is not believed", { mode: "plan", ...readOnly }],
  ["plan, nothing claimed", { mode: "plan", trustsAnnotations: true }],
  ["plan, read-only", { mode: "plan", ...readOnly, trustsAnnotations: true }],
  ["yolo", { mode: "yolo" }],
];

type Word = "=" | keyof typeof builtIn;
const { asks, alone } = { asks: { interactive: true }, alone: { interactive: false } };

/** What becomes of a decision: `=` stands, anything else is the built-in rule that takes its place. Columns as above. */
const outcomes: Readonly<Record<string, readonly (readonly [Word, Word])[]>> = {
  allow: [
    ["=", "="],
    ["=", "="],
    ["plan", "plan"],
    ["plan", "plan"],
    ["plan", "plan"],
    ["planAsks", "headless"],
    ["=", "="],
  ],
  ask_user: [
    ["=", "headless"],
    ["=", "headless"],
    ["plan", "plan"],
    ["plan", "plan"],
    ["plan", "plan"],
    ["=", "headless"],
    ["yolo", "yolo"],
  ],
  administrator: [
    ["=", "headless"],
    ["=", "headless"],
    ["plan", "plan"],
    ["plan", "plan"],
    ["plan", "plan"],
    ["=", "headless"],
    ["=", "headless"],
  ],
  deny: [
    ["=", "="],
    ["=", "="],
    ["=", "="],
    ["=", "="],
    ["=", "="],
    ["=", "="],
    ["=", "="],
  ],
  changed: [
    ["changed", "changedUnseen"],
    ["changed", "changedUnseen"],
    ["plan", "plan"],
    ["plan", "plan"],
    ["plan", "plan"],
    ["changed", "changedUnseen"],
    ["changed", "changedUnseen"],
  ],
};

function rowFor(base: PolicyRule, isChanged: boolean): string {
  if (base.decision !== "deny" && isChanged) return "changed";
  return base.decision === "ask_user" && base.tier === "administrator" ? "administrator" : base.decision;
}

function verdict(base: PolicyRule, word: Word): Decision {
  if (word === "=") return { decision: base.decision, rule: base };
  return { decision: builtIn[word].decision, rule: builtIn[word], over: base };
}

describe("the decision table", () => {
  const rows = deciding.flatMap(([rules, plain, trusted]) => [
    { rules, base: plain },
    { rules: [trust, ...rules], base: trusted },
  ]);
  test.each(rows.map((row) => ({ ...row, said: row.rules.map(({ origin }) => origin.name).join(" + ") || "no rule" })))(
    "$said: $base.origin.name",
    ({ rules, base }) => {
      const engine = new PolicyEngine({ rules });
      const cells = circumstances.flatMap(([what, more], column) =>
        [asks, alone].flatMap((who, side) =>
          [false, true].map((isChanged) => {
            const word = outcomes[rowFor(base, isChanged)]?.[column]?.[side] ?? "=";
            return { what, asked: request({ ...more, ...who, isChanged }), verdict: verdict(base, word) };
          }),
        ),
      );
      expect(cells.map((cell) => ({ ...cell, verdict: engine.check(cell.asked) }))).toEqual(cells);
      expect(engine.matching(request())[0]).toBe(base);
    },
  );
});

test("all rules that match are told, strongest first and the one that decides before them", () => {
  const weaker = rule("user", "deny", { priority: 9 });
  const elsewhere = rule("administrator", "deny", { server: exactName("other") });
  const engine = new PolicyEngine({ rules: [talkAsks, weaker, elsewhere, spaceAsks, trust] });
  expect(engine.matching(request())).toEqual([weaker, trust, spaceAsks, talkAsks, byDefault]);
  const yielding = new PolicyEngine({ rules: [trust, talkDenies, spaceAsks] });
  expect(yielding.matching(request())).toEqual([talkDenies, trust, spaceAsks, byDefault]);
});

describe("a rule whose meaning is in doubt", () => {
  const doubts = (["administrator", "user", "workspace"] as const).map((tier) =>
    rule(tier, "ask_user", { isDoubt: true }),
  );
  test.each(doubts)("$tier: stops what would run, in every mode", (doubt) => {
    const engine = new PolicyEngine({ rules: [rule("administrator", "allow"), doubt, talkAsks, trust] });
    for (const mode of ["default", "yolo"] as const)
      expect(engine.check(request({ mode }))).toEqual({ decision: "ask_user", rule: doubt });
  });

  test.each(doubts)("$tier: opens nothing that another closes", (doubt) => {
    for (const closing of [userDenies, spaceDenies, talkDenies]) {
      const engine = new PolicyEngine({ rules: [{ ...doubt, priority: 999 }, closing] });
      expect(engine.check(request()).rule).toBe(closing);
    }
  });

  test("of several the strictest counts, whatever its tier", () => {
    const strict = rule("workspace", "deny", { isDoubt: true });
    expect(new PolicyEngine({ rules: [...doubts, strict] }).check(request()).rule).toBe(strict);
  });
});

describe("what a rule speaks of", () => {
  const kinds = ["tool", "resource", "prompt", "sampling"] as const;

  test.each([
    ["nothing is named", {}, ["deny", "deny", "deny", "deny"]],
    ["a server is named", { server: exactName("s") }, ["deny", "deny", "deny", "deny"]],
    ["another server is named", { server: exactName("S") }, ["ask_user", "ask_user", "allow", "ask_user"]],
    ["a tool is named", { tool: namePattern("*") }, ["deny", "ask_user", "allow", "ask_user"]],
    ["a resource is named", { kind: "resource", tool: namePattern("?") }, ["ask_user", "deny", "allow", "ask_user"]],
    ["prompts are named", { kind: "prompt" }, ["ask_user", "ask_user", "deny", "ask_user"]],
    ["sampling is named", { kind: "sampling" }, ["ask_user", "ask_user", "allow", "deny"]],
  ] as const)("%s", (_, more, expected) => {
    const engine = new PolicyEngine({ rules: [rule("user", "deny", more)] });
    expect(kinds.map((kind) => engine.check(request({ kind })).decision)).toEqual(expected);
  });

  test("trust speaks of tools: it answers for no sampling", () => {
    const engine = new PolicyEngine({ rules: [trust] });
    expect(engine.check(request({ kind: "sampling" })).rule).toBe(defaultRules.sampling);
  });

  test("plan mode leaves reading alone", () => {
    const engine = new PolicyEngine({ rules: [] });
    const decisions = kinds.map((kind) => engine.check(request({ kind, mode: "plan" })).decision);
    expect(decisions).toEqual(["deny", "ask_user", "allow", "ask_user"]);
  });

  test("arguments are looked at in one form, and a rule about them needs them", () => {
    const seen: string[] = [];
    const matches = (json: string): boolean => json.includes('"path":"/etc') && seen.push(json) > 0;
    const engine = new PolicyEngine({ rules: [rule("user", "deny", { argsPattern: { text: "…", matches } })] });
    const decide = (more: Partial<CheckRequest>) => engine.check(request(more)).decision;
    expect([decide({}), decide({ args: { path: "/tmp" } })]).toEqual(["ask_user", "ask_user"]);
    expect(decide({ args: { path: "/etc/passwd", line: 1 } })).toBe("deny");
    expect(seen).toEqual(['{"line":1,"path":"/etc/passwd"}']);
  });

  test("modes and the person are conditions", () => {
    const engine = new PolicyEngine({
      rules: [rule("user", "deny", { modes: ["yolo"] }), rule("user", "allow", { interactive: false })],
    });
    const decide = (more: Partial<CheckRequest>) => engine.check(request(more)).decision;
    expect([decide({}), decide({ mode: "yolo" }), decide({ interactive: false })]).toEqual([
      "ask_user",
      "deny",
      "allow",
    ]);
  });
});

describe("annotations", () => {
  const harmless = new Map<string, unknown>([["readOnlyHint", true]]);
  const harmful = new Map<string, unknown>([["destructiveHint", true]]);
  const titled = new Map<string, unknown>([["title", "Delete"]]);
  const claims = { readOnlyHint: true, destructiveHint: false, title: "Delete" };

  test.each([
    ["an allow is not helped by a claim that is not believed", "allow", harmless, claims, false, "ask_user"],
    ["an allow is helped by one that is", "allow", harmless, claims, true, "allow"],
    ["an allow for what is destructive holds for the worst case", "allow", harmful, claims, false, "allow"],
    ["a claim other than a hint is not believed either", "allow", titled, claims, false, "ask_user"],
    ["a deny is not escaped by a claim that is not believed", "deny", harmful, claims, false, "deny"],
    ["a deny is escaped by one that is", "deny", harmful, claims, true, "ask_user"],
    ["a deny may rest on a claim", "deny", titled, claims, false, "deny"],
    ["what is not said counts as the worst", "deny", harmful, {}, true, "deny"],
    ...Object.entries({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    }).flatMap(([hint, worst]) =>
      [true, false].flatMap((trusts) => [
        [`${hint}: the worst is ${worst}`, "deny", new Map([[hint, worst]]), {}, trusts, "deny"] as const,
        [`${hint}: nothing better is taken`, "allow", new Map([[hint, !worst]]), {}, trusts, "ask_user"] as const,
      ]),
    ),
    ["names of all objects are no claims", "deny", new Map([["constructor", Object]]), {}, true, "ask_user"],
  ] as const)("%s", (_, decision, annotations, claimed, trustsAnnotations, expected) => {
    const engine = new PolicyEngine({ rules: [rule("user", decision, { annotations })] });
    expect(engine.check(request({ annotations: claimed, trustsAnnotations })).decision).toBe(expected);
  });
});

test("a definition that may have changed is asked about with the reason, and denied without a terminal", () => {
  const engine = new PolicyEngine({ rules: [userAllows] });
  const doubtful = { isChanged: true, doubt: "the disk is full" };
  const told = (interactive: boolean) => {
    const { decision, rule: by, over } = engine.check(request({ ...doubtful, interactive }));
    return { decision, by: [by.origin.name, by.decision, by.denyMessage], over };
  };
  expect(told(true)).toEqual({
    decision: "ask_user",
    by: ["unsaved", "ask_user", "the disk is full"],
    over: userAllows,
  });
  expect(told(false)).toEqual({ decision: "deny", by: ["unsaved", "deny", "the disk is full"], over: userAllows });
});

test("a rule about one client is for that client only", () => {
  const engine = new PolicyEngine({ rules: [rule("user", "allow", { client: exactName("editor") })] });
  const decisions = ["editor", "other", undefined].map((client) => engine.check(request({ client })).decision);
  expect(decisions).toEqual(["allow", "ask_user", "ask_user"]);
});

test("annotations are not trusted unless the request says so", () => {
  const engine = new PolicyEngine({
    rules: [rule("user", "allow", { annotations: new Map([["readOnlyHint", true]]) })],
  });
  const { trustsAnnotations: _, ...asked } = request({ annotations: { readOnlyHint: true } });
  expect(engine.check(asked).decision).toBe("ask_user");
  expect(engine.check({ ...asked, trustsAnnotations: true }).decision).toBe("allow");
});
