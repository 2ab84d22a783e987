import { expect, test } from "vitest";
import { changed, changedWhileAsked, notConfirmed, policySubject, refusal } from "../../src/policy/refusal.ts";
import { builtIn, defaultRules, unsavedRule } from "../../src/policy/rules/built-in-rules.ts";
import type { Decision, PolicyRule } from "../../src/policy/rules/rule.ts";
import { rule } from "../support/consent-desk.ts";

const [serverName, serverToolName] = ["my files", "read"];
const kinds = ["tool", "resource", "prompt", "sampling"] as const;
const names = [
  "my files.read",
  'resource read of "my files"',
  'prompt read of "my files"',
  'sampling request of "my files"',
];
const explain = "fairlead policy explain 'my files.read'";
const explainKind = (kind = "tool"): string => `fairlead policy explain --kind ${kind} 'my files.read'`;

function told({ code, message, serverName: from, next }: ReturnType<typeof refusal>): readonly unknown[] {
  expect(from).toBe(serverName);
  return [code, message, next];
}

test("a denied request is named by its kind, with the rule and where to look", () => {
  const denying = { decision: "deny", rule: rule("user", "deny", serverName) } as const;
  expect(kinds.map((kind) => told(refusal({ serverName, serverToolName, kind }, denying)))).toEqual(
    names.map((name, at) => [
      "denied",
      `${name} denied: a rule in user.toml:1 denies it`,
      at === 0 ? explain : explainKind(kinds[at]),
    ]),
  );
  const asking = { decision: "ask_user", rule: rule("user", "ask_user", serverName) } as const;
  expect(told(refusal({ serverName, serverToolName }, asking))).toEqual([
    "denied",
    "my files.read needs confirmation: a rule in user.toml:1 asks about it",
    explain,
  ]);
});

test.each<[string, PolicyRule | undefined, string, string]>([
  [
    "the default asks",
    defaultRules.tool,
    "it needs confirmation",
    "add --allow 'my files.read', or: fairlead policy allow 'my files.read'",
  ],
  ["a rule asks", rule("user", "ask_user", serverName), "a rule in user.toml:1 asks about it", explain],
  ["a rule allows", rule("user", "allow", serverName), "it needs confirmation", explain],
  ["no rule is known", undefined, "it needs confirmation", explain],
])("without a terminal, where %s", (_, over, why, next) => {
  const decision: Decision = { decision: "deny", rule: builtIn.headless, ...(over && { over }) };
  const message = `my files.read denied: ${why} and there is no terminal to ask on`;
  expect(told(refusal({ serverName, serverToolName }, decision))).toEqual(["denied", message, next]);
});

test("without a terminal --allow is advised for tools only", () => {
  const decision: Decision = { decision: "deny", rule: builtIn.headless, over: defaultRules.resource };
  expect(told(refusal({ serverName, serverToolName, kind: "resource" }, decision))).toEqual([
    "denied",
    'resource read of "my files" denied: it needs confirmation and there is no terminal to ask on',
    "fairlead policy allow --kind resource 'my files.read'",
  ]);
});

test("a changed definition is told with the command that shows the change", () => {
  const decision: Decision = { decision: "ask_user", rule: builtIn.changed };
  const tool = [
    "changed",
    "my files.read changed: its definition differs from the accepted one",
    "fairlead call 'my files.read' (shows the change and asks whether to accept it; --yes accepts it)",
  ];
  expect(told(refusal({ serverName, serverToolName }, decision))).toEqual(tool);
  expect(told(changed({ serverName, serverToolName, kind: "prompt" }))).toEqual([
    "changed",
    'prompt read of "my files" changed: it differs from the lock file',
    "fairlead lock verify",
  ]);
  expect(told(notConfirmed({ serverName, serverToolName }))).toEqual([
    "denied",
    "my files.read denied: the user has not confirmed these arguments",
    "Confirm the call first, or: fairlead policy allow 'my files.read'",
  ]);
});

test("a definition that may have changed is told with the reason why Fairlead cannot know", () => {
  const decision: Decision = { decision: "deny", rule: unsavedRule("the disk is full", "deny") };
  expect(told(refusal({ serverName, serverToolName }, decision))).toEqual([
    "denied",
    "my files.read denied: its definition may have changed since an earlier run: the disk is full",
    "Make Fairlead's folder writable (fairlead doctor checks this), or set FAIRLEAD_HOME to another folder.",
  ]);
});

test("a client that cannot ask the user is told so, with the command that allows the request for it", () => {
  const asking: Decision = { decision: "ask_user", rule: rule("user", "ask_user", serverName) };
  const request = { serverName, serverToolName, client: "my editor" };
  expect(told(refusal(request, asking))).toEqual([
    "denied",
    'my files.read denied: it needs confirmation, and "my editor" cannot ask the user (a rule in user.toml:1 asks about it)',
    "fairlead policy allow --client 'my editor' 'my files.read'",
  ]);
  const denying: Decision = { decision: "deny", rule: rule("user", "deny", serverName) };
  expect(told(refusal(request, denying))).toEqual([
    "denied",
    "my files.read denied: a rule in user.toml:1 denies it",
    "fairlead policy explain --client 'my editor' 'my files.read'",
  ]);
  const headless: Decision = { decision: "deny", rule: builtIn.headless, over: defaultRules.tool };
  expect(told(refusal(request, headless))[2]).toBe("fairlead policy allow --client 'my editor' 'my files.read'");
});

test("the subject of a policy command names the client and the kind only where they matter", () => {
  expect(policySubject({ serverName: "s", serverToolName: "" })).toBe("s");
  expect(policySubject({ serverName: "s", serverToolName: "t", kind: "tool" })).toBe("s.t");
  expect(policySubject({ serverName: "s", serverToolName: "u", kind: "resource", client: "c" })).toBe(
    "--client c --kind resource s.u",
  );
});

test.each([
  [{ who: "user", kind: "tool" }, "repeat the call"],
  [{ who: "user", kind: "prompt" }, "repeat the prompt"],
  [{ who: "user", kind: "resource" }, "repeat the read"],
  [{ who: "user", kind: "sampling" }, "repeat the request"],
  [{ who: "user" }, "repeat the call"],
  [{ who: "model" }, "ask the model again"],
  [{}, "ask the model again"],
  [{ who: "user", client: "c" }, "send the request again"],
] as const)("after a change during the question, the sender of %j is told to %s", (more, step) => {
  const request = { serverName, serverToolName, ...more };
  const next = `${step}; Fairlead shows the change and asks again`;
  const error = changedWhileAsked(request, { decision: "ask_user", rule: defaultRules.tool });
  expect([error.code, error.serverName, error.next]).toEqual(["changed", serverName, next]);
  expect(error.message).toMatch(/ did not run: the settings of "my files" changed while you were asked$/);
  expect(changedWhileAsked(request, { decision: "ask_user", rule: builtIn.changed }).message).toMatch(
    / did not run: its definition changed while you were asked$/,
  );
});

test("if a policy file cannot be read, the next step is to correct it", () => {
  const doubt: PolicyRule = { ...rule("user", "ask_user", serverName), isDoubt: true, denyMessage: "the file is bad" };
  const asking: Decision = { decision: "ask_user", rule: doubt };
  const request = { serverName, serverToolName };
  const headless: Decision = { decision: "deny", rule: builtIn.headless, over: doubt };
  const errors = [
    refusal(request, asking),
    refusal({ ...request, client: "codex" }, asking),
    refusal(request, headless),
  ];
  for (const { message, next } of errors)
    expect([message, next]).toEqual([expect.stringContaining("user.toml:1: the file is bad"), "correct user.toml"]);
});
