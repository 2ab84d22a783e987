import { hash } from "node:crypto";
import { ToolConfirmationOutcome } from "@fairlead/core/registry/confirmation";
import { expect, test } from "vitest";
import { ApprovalNeeded } from "../../src/consent/approval-needed.ts";
import { type ConfirmedRequest, confirmedName, toQuestion } from "../../src/consent/confirmed-request.ts";
import { sampleConfirmation, writeFile } from "../support/sample-confirmations.ts";

const { ProceedOnce, ProceedAlwaysTool, ProceedAlwaysServer, Cancel } = ToolConfirmationOutcome;
const { details } = sampleConfirmation();
const change = [{ member: "description", before: "a", after: "b" }];

test("a question contains the request, its arguments and the rule", () => {
  const question = toQuestion("codex", writeFile, details, true);
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
  expect(toQuestion("codex", request, { ...details, rule, change }, true)).toMatchObject({
    folder: "/work",
    change,
    reason: "rule 1; unclear",
  });
  const { rule: _, ...ruleless } = details;
  expect(toQuestion("codex", writeFile, ruleless, true).reason).toBe("");
});

test("each part of a request changes the key of its approval", () => {
  const identity = { fingerprint: "f", root: "/work" };
  const keyOf = (client = "codex", request: Partial<ConfirmedRequest> = {}, more: Partial<typeof details> = {}) =>
    toQuestion(client, { ...writeFile, identity, ...request }, { ...details, ...more }, true).key;
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
  ["a tool with a saved rule", {}, {}, true, ["no", "once", "conversation", "always"]],
  [
    "a tool of a server that may be allowed",
    {},
    { outcomes: [ProceedOnce, ProceedAlwaysServer] },
    true,
    ["no", "once", "conversation", "always"],
  ],
  [
    "a tool that may be allowed",
    {},
    { outcomes: [ProceedOnce, ProceedAlwaysTool] },
    true,
    ["no", "once", "conversation", "always"],
  ],
  ["a rule that cannot be saved", {}, {}, false, ["no", "once", "conversation"]],
  ["a call that must be confirmed each time", {}, { outcomes: [ProceedOnce, Cancel] }, true, ["no", "once"]],
  ["a changed definition", {}, { change }, true, ["no", "once", "conversation"]],
  ["a resource", { kind: "resource" }, {}, true, ["no", "once", "conversation"]],
] as const)("the answers for %s", (_, request, more, canSave, answers) => {
  expect(toQuestion("codex", { ...writeFile, ...request }, { ...details, ...more }, canSave).answers).toEqual(answers);
});

test.each([
  ["tool", "files.write_file", "call it again"],
  ["resource", "the resource write_file of files", "send the request again"],
  ["prompt", "the prompt write_file of files", "send the request again"],
  ["sampling", "a sampling request of files", "send the request again"],
] as const)("a %s is named %s, and the advice fits", (kind, name, again) => {
  const request = { ...writeFile, kind };
  expect(confirmedName(request)).toBe(name);
  const error = new ApprovalNeeded(request, "ABC");
  const { code, id, message, next, serverName } = error;
  expect({ code, id, message, next, serverName }).toEqual({
    code: "denied",
    id: "ABC",
    message: `Not run: ${name} needs approval. To approve it, run: fairlead approvals allow ABC, then ${again}.`,
    next: "fairlead approvals allow ABC",
    serverName: "files",
  });
});

test("at most 200 characters of a name are shown", () => {
  expect(confirmedName({ server: "s".repeat(201), kind: "tool", name: "t".repeat(201) })).toBe(
    `${"s".repeat(200)}.${"t".repeat(200)}`,
  );
});
