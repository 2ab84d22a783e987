import { describe, expect, test } from "vitest";
import { type ToolCallConfirmationDetails, ToolConfirmationOutcome } from "../../src/policy/confirmation.ts";
import {
  type ConfirmationChoice,
  choiceText,
  outcomeOf,
  requestName,
  toConfirmationView,
} from "../../src/policy/confirmation-view.ts";
import type { Requester } from "../../src/policy/decide.ts";
import type { RequestKind } from "../../src/policy/rules/rule.ts";

const { ProceedOnce, ProceedAlwaysTool, ProceedAlwaysServer, ProceedAlwaysAndSave, Cancel } = ToolConfirmationOutcome;

const viewOf = (details: Partial<ToolCallConfirmationDetails>, who: Requester = "model") =>
  toConfirmationView(
    {
      type: "mcp",
      title: "Confirm",
      serverName: "files",
      toolName: "write_file",
      toolDisplayName: "write_file",
      description: "",
      args: {},
      outcomes: Object.values(ToolConfirmationOutcome),
      onConfirm: async () => {},
      ...details,
    },
    { who },
  );

test("a view has the request, the names for people and models, and the digest of the arguments", () => {
  const view = viewOf({ toolDisplayName: "files__write_file", description: "Writes.", args: { b: 1, a: 2 } });
  expect(view).toMatchObject({
    who: "model",
    server: "files",
    kind: "tool",
    name: "write_file",
    modelName: "files__write_file",
    description: "Writes.",
    args: { b: 1, a: 2 },
    reason: "",
  });
  expect(view.digest).toMatch(/^[0-9a-f]{16}$/);
  expect(viewOf({ args: { a: 2, b: 1 } }).digest).toBe(view.digest);
  expect(viewOf({ args: { a: 2 } }).digest).not.toBe(view.digest);
});

test("the reason is the rule, and the doubt about the definition unless the rule already names it", () => {
  const rule = { decision: "ask_user", tier: "user" } as const;
  const reasonOf = (text: string, doubt?: string) =>
    viewOf({ rule: { ...rule, text, ...(doubt && { doubt }) } }).reason;
  expect(reasonOf("a rule asks about it")).toBe("a rule asks about it");
  expect(reasonOf("a rule asks about it", "no access")).toBe("a rule asks about it; no access");
  expect(reasonOf("it may have changed: no access", "no access")).toBe("it may have changed: no access");
});

const change = [{ member: "description", before: "a", after: "b" }];

describe("the answers that can take effect", () => {
  test.each<[who: Requester, details: Partial<ToolCallConfirmationDetails>, answers: readonly ConfirmationChoice[]]>([
    ["model", {}, ["no", "once", "conversation", "server", "always"]],
    ["model", { change }, ["no", "once", "conversation", "server", "always"]],
    ["model", { outcomes: [ProceedOnce, Cancel] }, ["no", "once"]],
    ["model", { outcomes: [] }, ["no"]],
    ["model", { kind: "resource", outcomes: [ProceedOnce, ProceedAlwaysServer] }, ["no", "once", "conversation"]],
    ["model", { kind: "prompt", outcomes: [ProceedOnce] }, ["no", "once"]],
    ["client", {}, ["no", "once", "conversation", "always"]],
    ["client", { change }, ["no", "once", "conversation"]],
    ["client", { outcomes: [ProceedOnce, ProceedAlwaysServer] }, ["no", "once"]],
    ["client", { kind: "resource" }, ["no", "once", "conversation"]],
  ])("to a %s with %j are %j", (who, details, answers) => {
    expect(viewOf(details, who).answers).toEqual(answers);
  });

  test.each<[ConfirmationChoice, RequestKind, ToolConfirmationOutcome, string]>([
    ["no", "tool", Cancel, "no"],
    ["once", "tool", ProceedOnce, "yes, once"],
    ["conversation", "tool", ProceedAlwaysTool, "this tool, until the conversation ends"],
    ["conversation", "resource", ProceedAlwaysServer, "all resources of the server, until the conversation ends"],
    ["server", "tool", ProceedAlwaysServer, "all tools of the server, until the conversation ends"],
    ["always", "tool", ProceedAlwaysAndSave, "this tool, always (saves an approval)"],
  ])("%s for a %s is the outcome %s, and says: %s", (choice, kind, outcome, text) => {
    expect([outcomeOf(choice, kind), choiceText(choice, { who: "model", kind })]).toEqual([outcome, text]);
  });

  test("to a client last until it disconnects, and are saved for it only", () => {
    const texts = (["conversation", "always"] as const).map((each) =>
      choiceText(each, { who: "client", kind: "tool" }),
    );
    expect(texts).toEqual([
      "this tool, until the program disconnects",
      "this tool, always for this program (saves an approval)",
    ]);
  });
});

describe("the name of a request", () => {
  const named = (name: string, server = "files"): string => requestName({ server, kind: "tool", name });

  test.each([
    ["tool", "files.x"],
    ["resource", "the resource x of files"],
    ["prompt", "the prompt x of files"],
    ["sampling", "a sampling request of files"],
  ] as const)("for a %s is %s", (kind, name) => {
    expect(requestName({ server: "files", kind, name: "x" })).toBe(name);
  });

  test("marks a cut, so that two names that differ after 200 characters do not look alike", () => {
    const long = "t".repeat(200);
    expect(named(long)).toBe(`files.${long}`);
    expect(named(`${long}1`)).toMatch(/^files\.t{200}… ⟨201 characters, sha256 [0-9a-f]{16}⟩$/);
    expect(named(`${long}1`)).not.toBe(named(`${long}2`));
    expect(named("x", `${long}1`)).not.toBe(named("x", `${long}2`));
    // A short name cannot imitate the mark of a cut one.
    expect(named(named(`${long}1`).slice("files.".length))).not.toBe(named(`${long}1`));
    // Hidden characters are shown, and a long run of blanks is counted.
    expect(named("write\u200B_file")).toMatch(/^files\.write⟨U\+200B⟩_file ⟨11 characters, sha256 [0-9a-f]{16}⟩$/);
    expect(named(`${" ".repeat(2000)}1`)).not.toBe(named(`${" ".repeat(2000)}2`));
  });

  test.each([
    ["pay", "pay "],
    ["\u00E9", "e\u0301"],
    ["\u00C5", "\u212B"],
    ["copy", "сору"],
    ["write\u200B", "write⟨U+200B⟩"],
  ])("%j and %j do not look alike: one that is not plain has a digest", (one, other) => {
    const digestIn = (name: string) => /sha256 ([0-9a-f]{16})⟩$/.exec(named(name))?.[1];
    expect(digestIn(other)).toBeDefined();
    expect(digestIn(one)).not.toBe(digestIn(other));
  });
});
