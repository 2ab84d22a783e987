import { hash } from "node:crypto";
import { ToolConfirmationOutcome } from "@fairlead/core/registry/confirmation";
import { expect, test } from "vitest";
import { ApprovalNeeded } from "../../src/consent/approval-needed.ts";
import { type ConfirmedRequest, confirmedName, toQuestion } from "../../src/consent/confirmed-request.ts";
import { sampleConfirmation, writeFile } from "../support/sample-confirmations.ts";

const { ProceedOnce, ProceedAlwaysTool, ProceedAlwaysServer, ProceedAlwaysAndSave, Cancel } = ToolConfirmationOutcome;
const { details } = sampleConfirmation();
const change = [{ member: "description", before: "a", after: "b" }];

test("a question contains the request, its arguments and the rule", () => {
  const question = toQuestion("codex", writeFile, details);
  expect(question).toEqual({
    client: "codex",
    server: "files",
    kind: "tool",
    name: "write_file",
    args: { path: "a.txt", text: "hello" },
    reason: "rule 1 of fairlead.toml",
    answers: ["no", "once", "conversation", "always"],
    key: expect.stringMatching(/^[0-9a-f]{64}$/),
    digest: hash("sha256", '{"path":"a.txt","text":"hello"}').slice(0, 16),
  });
});

test("a question shows the folder, the change and the doubt about the rule, if there are any", () => {
  const request = { ...writeFile, identity: { fingerprint: "f", root: "/work" } };
  const rule = { decision: "ask_user", tier: "user", text: "rule 1", doubt: "unclear" } as const;
  expect(toQuestion("codex", request, { ...details, rule, change })).toMatchObject({
    folder: "/work",
    change,
    reason: "rule 1; unclear",
  });
  const { rule: _, ...ruleless } = details;
  expect(toQuestion("codex", writeFile, ruleless).reason).toBe("");
});

test("each part of a request changes the key of its approval", () => {
  const identity = { fingerprint: "f", root: "/work" };
  const keyOf = (client = "codex", request: Partial<ConfirmedRequest> = {}, more: Partial<typeof details> = {}) =>
    toQuestion(client, { ...writeFile, identity, ...request }, { ...details, ...more }).key;
  const keys = [
    keyOf(),
    keyOf("claude-code"),
    keyOf("codex", { server: "other" }),
    keyOf("codex", { kind: "prompt" }),
    keyOf("codex", { name: "read_file" }),
    keyOf("codex", { identity: undefined }),
    keyOf("codex", { identity: { ...identity, fingerprint: "g" } }),
    keyOf("codex", { identity: { ...identity, root: "/other" } }),
    keyOf("codex", {}, { args: {} }),
    keyOf("codex", {}, { change }),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  expect(keyOf("codex", {}, { args: { text: "hello", path: "a.txt" } })).toBe(keys[0]);
});

test.each([
  ["a tool whose approval can be saved", {}, {}, ["no", "once", "conversation", "always"]],
  [
    "a tool of a server that may be allowed",
    {},
    { outcomes: [ProceedOnce, ProceedAlwaysServer, ProceedAlwaysAndSave] },
    ["no", "once", "conversation", "always"],
  ],
  ["a tool that may be allowed", {}, { outcomes: [ProceedOnce, ProceedAlwaysTool] }, ["no", "once", "conversation"]],
  ["a call that must be confirmed each time", {}, { outcomes: [ProceedOnce, Cancel] }, ["no", "once"]],
  ["a changed definition", {}, { change }, ["no", "once", "conversation"]],
  ["a resource", { kind: "resource" }, {}, ["no", "once", "conversation"]],
] as const)("the answers for %s", (_, request, more, answers) => {
  expect(toQuestion("codex", { ...writeFile, ...request }, { ...details, ...more }).answers).toEqual(answers);
});

test.each([
  ["tool", "files.write_file", "call it again"],
  ["resource", "the resource write_file of files", "send the request again"],
  ["prompt", "the prompt write_file of files", "send the request again"],
  ["sampling", "a sampling request of files", "send the request again"],
] as const)("a %s is named %s, and the advice fits", (kind, name, again) => {
  const request = { ...writeFile, kind };
  expect(confirmedName(request)).toBe(name);
  const error = new ApprovalNeeded({ ...request, client: "codex", reason: "", answers: ["no", "once"] }, "ABC");
  const { code, id, message, next, serverName } = error;
  expect({ code, id, message, next, serverName }).toEqual({
    code: "denied",
    id: "ABC",
    message: `Not run: ${name} needs approval. To approve it, run: fairlead approvals allow ABC, then ${again}.`,
    next: "fairlead approvals allow ABC",
    serverName: "files",
  });
});

test("two names that differ after 200 characters do not look alike, and the cut is marked", () => {
  const named = (name: string, server = "files"): string => confirmedName({ server, kind: "tool", name });
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
])("the names %j and %j do not look alike: one that is not plain has a digest", (one, other) => {
  const digestIn = (name: string) =>
    /sha256 ([0-9a-f]{16})⟩$/.exec(confirmedName({ server: "files", kind: "tool", name }))?.[1];
  expect(digestIn(other)).toBeDefined();
  expect(digestIn(one)).not.toBe(digestIn(other));
});
