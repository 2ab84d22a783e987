import { everyResource, namePattern } from "@fairlead/core/policy/rules/name-pattern";
import type { PolicyRule, RuleOrigin } from "@fairlead/core/policy/rules/rule";
import { expect, test } from "vitest";
import { decisionWord, originText, ruleDocument, subjectText } from "../../../src/output/policy/rule-lines.ts";
import { marked } from "../../support/plain-style.ts";

const base: PolicyRule = { tier: "user", decision: "deny", priority: 5, origin: { source: "policy_file" } };
const rule = (more: Partial<PolicyRule>): PolicyRule => ({ ...base, ...more });
const [github, del, any] = [namePattern("github"), namePattern("delete_*"), namePattern("*")];

test.each<readonly [Partial<PolicyRule>, string]>([
  [{}, "everything of any server"],
  [{ server: any }, "everything of any server"],
  [{ server: github }, "everything of github"],
  [{ server: github, tool: del }, "github.delete_*"],
  [{ tool: del, kind: "tool" }, "*.delete_*"],
  [{ kind: "tool" }, "tools of any server"],
  [{ server: github, tool: any, kind: "tool" }, "github.*"],
  [{ server: github, tool: any, kind: "prompt" }, "prompts of github"],
  [{ tool: namePattern(everyResource), kind: "resource" }, "resources of any server"],
  [{ server: github, tool: del, kind: "prompt" }, "prompts github.delete_*"],
  [{ kind: "sampling", client: namePattern("cursor") }, "sampling of any server, client cursor"],
  [
    {
      argsPattern: { text: "rm -rf", matches: () => false },
      annotations: new Map([["readOnlyHint", true]]),
      modes: ["plan", "yolo"],
      interactive: true,
    },
    "everything of any server, arguments match rm -rf, readOnlyHint is true, mode plan or yolo, in a terminal",
  ],
  [{ interactive: false }, "everything of any server, no terminal to ask on"],
])("a rule about %j is about: %s", (more, subject) => {
  expect(subjectText(rule(more))).toBe(subject);
});

test.each<readonly [RuleOrigin, string]>([
  [{ source: "policy_file", file: "/a.toml", line: 3 }, "/a.toml:3"],
  [{ source: "policy_file", file: "/a.toml" }, "/a.toml"],
  [{ source: "built_in", name: "tools" }, ""],
  [{ source: "settings", name: "mcp.excluded", file: "/s.json", line: 7 }, "mcp.excluded in /s.json:7"],
  [{ source: "flag" }, "flag"],
])("the origin %j is shown as: %s", (origin, text) => {
  expect(originText(rule({ origin }))).toBe(text);
});

test("a decision is one coloured word", () => {
  expect((["allow", "ask_user", "deny"] as const).map((decision) => decisionWord(decision, marked))).toEqual([
    "<green>allow</>",
    "<yellow>ask</>",
    "<red>deny</>",
  ]);
});

test("the JSON of a rule has the conditions that the rule has, and no others", () => {
  expect(ruleDocument(base)).toEqual({
    decision: "deny",
    tier: "user",
    priority: 5,
    origin: { source: "policy_file" },
    text: "a rule denies it",
  });
  const whole = rule({
    server: github,
    tool: del,
    kind: "tool",
    client: any,
    argsPattern: { text: "x", matches: () => true },
    annotations: new Map([["readOnlyHint", false]]),
    modes: ["plan"],
    interactive: false,
    denyMessage: "no",
  });
  expect(ruleDocument(whole)).toMatchObject({
    server: "github",
    tool: "delete_*",
    kind: "tool",
    client: "*",
    argsPattern: "x",
    annotations: { readOnlyHint: false },
    modes: ["plan"],
    interactive: false,
    denyMessage: "no",
    text: "a rule denies it: no",
  });
});
