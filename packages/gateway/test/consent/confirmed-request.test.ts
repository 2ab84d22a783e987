import { hash } from "node:crypto";
import { ToolConfirmationOutcome } from "@fairlead/core/policy/confirmation";
import { expect, test } from "vitest";
import { ApprovalNeeded, toQuestion } from "../../src/consent/confirmed-request.ts";
import { sampleConfirmation, writeFile } from "../support/sample-confirmations.ts";

const { ProceedOnce, ProceedAlwaysTool, ProceedAlwaysServer, Cancel } = ToolConfirmationOutcome;
const { details } = sampleConfirmation();
const change = [{ member: "description", before: "a", after: "b" }];

test("a question contains the request, its arguments and the rule", () => {
  expect(toQuestion("codex", details, { fingerprint: "f", root: "/work" })).toEqual({
    who: "client",
    client: "codex",
    folder: "/work",
    server: "files",
    kind: "tool",
    name: "write_file",
    description: "Writes a file",
    args: { path: "a.txt", text: "hello" },
    reason: "rule 1 of fairlead.toml",
    answers: ["no", "once", "conversation", "always"],
    key: expect.stringMatching(/^[0-9a-f]{64}$/),
    digest: hash("sha256", '{"path":"a.txt","text":"hello"}').slice(0, 16),
  });
});

test("each part of a request changes the key of its approval", () => {
  const identity = { fingerprint: "f", root: "/work" };
  const keyOf = (client = "codex", more: Partial<typeof details> = {}, of: Partial<typeof identity> = identity) =>
    toQuestion(client, { ...details, ...more }, of).key;
  const keys = [
    keyOf(),
    keyOf("claude-code"),
    keyOf("codex", { serverName: "other" }),
    keyOf("codex", { kind: "prompt" }),
    keyOf("codex", { toolName: "read_file" }),
    keyOf("codex", {}, {}),
    keyOf("codex", {}, { ...identity, fingerprint: "g" }),
    keyOf("codex", {}, { ...identity, root: "/other" }),
    keyOf("codex", { args: {} }),
    keyOf("codex", { change }),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  expect(keyOf("codex", { args: { text: "hello", path: "a.txt" } })).toBe(keys[0]);
});

test.each([
  ["a tool whose approval can be saved", {}, ["no", "once", "conversation", "always"]],
  ["a tool that may be allowed", { outcomes: [ProceedOnce, ProceedAlwaysTool] }, ["no", "once", "conversation"]],
  ["a call that must be confirmed each time", { outcomes: [ProceedOnce, Cancel] }, ["no", "once"]],
  ["a changed definition", { change }, ["no", "once", "conversation"]],
  ["a resource", { kind: "resource" }, ["no", "once", "conversation"]],
  [
    "a resource that may be allowed",
    { kind: "resource", outcomes: [ProceedOnce, ProceedAlwaysServer] },
    ["no", "once", "conversation"],
  ],
] as const)("the answers for %s", (_, more, answers) => {
  expect(toQuestion("codex", { ...details, ...more }).answers).toEqual(answers);
});

test.each([
  ["tool", "files.write_file", "call it again"],
  ["resource", "the resource write_file of files", "send the request again"],
  ["prompt", "the prompt write_file of files", "send the request again"],
  ["sampling", "a sampling request of files", "send the request again"],
] as const)("the error for a %s names it %s, and the advice fits", (kind, name, again) => {
  const request = { ...writeFile, kind };
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

test.each([
  ["tool", "files.x", "call it again"],
  ["prompt", "the prompt x of files", "send the request again"],
] as const)("the error for a %s that needs approval names the command", (kind, name, again) => {
  const error = new ApprovalNeeded(
    { server: "files", kind, name: "x", client: "codex", reason: "", answers: ["no", "once"] },
    "7QF",
  );
  expect(error).toMatchObject({
    code: "denied",
    message: `Not run: ${name} needs approval. To approve it, run: fairlead approvals allow 7QF, then ${again}.`,
    serverName: "files",
    next: "fairlead approvals allow 7QF",
    id: "7QF",
  });
});
