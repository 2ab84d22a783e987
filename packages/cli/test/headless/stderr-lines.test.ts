import type { CallEvent, TurnEvent } from "@fairlead/core/turn/events";
import { describe, expect, test } from "vitest";
import { callTitle, deniedAdvice, eventLines } from "../../src/headless/stderr-lines.ts";

const base = { type: "call", id: "1", name: "m", server: "s", serverToolName: "t", args: { a: "\u001b" } } as const;
const call = (status: CallEvent["status"], more: Partial<CallEvent> = {}): CallEvent => ({ ...base, status, ...more });
const error = (message: string, next?: string): NonNullable<CallEvent["error"]> => ({
  code: "denied",
  message,
  ...(next !== undefined && { next }),
});

describe("stderr says what happens to calls and servers", () => {
  test.each<[event: TurnEvent, lines: readonly string[]]>([
    [call("requested"), []],
    [call("asking"), []],
    [call("queued"), []],
    [call("running"), ['s.t {"a":"\\u001b"}']],
    [call("running", { args: { a: "x".repeat(193) } }), [`s.t {"a":"${"x".repeat(193)}…`]],
    [call("running", { args: { a: "x".repeat(192) } }), [`s.t {"a":"${"x".repeat(192)}"}`]],
    [call("ok", { display: "words" }), []],
    [call("ok", { display: "" }), ["s.t returned an empty result"]],
    [call("error", { display: "" }), []],
    [call("ok", { display: "", media: [{ mimeType: "image/png", data: "AAAA" }] }), ["s.t: [image image/png, 3 B]"]],
    [call("ok", { display: "", files: ["/f\u001b", "/g"] }), ["s.t: full result in /f␛", "s.t: full result in /g"]],
    [call("error", { error: error("broke\u001b") }), ["s.t: failed: broke␛"]],
    [call("denied", { error: error("a rule", "ask") }), ["s.t: denied: a rule\n  next: ask"]],
    [call("cancelled", { error: error("you") }), ["s.t: cancelled: you"]],
    [call("ok", { display: "words", error: error("late") }), ["s.t: done: late"]],
    [call("denied", { error: error("s.t denied: a rule", "ask\u001b") }), ["s.t denied: a rule\n  next: ask␛"]],
    [call("denied", { error: error("s.tx denied") }), ["s.t: denied: s.tx denied"]],
    [
      { type: "quarantined", server: "s", serverToolName: "t\u001b", reason: "no such type\u001b" },
      ["quarantined: s.t␛: no such type␛"],
    ],
    [{ type: "waiting", servers: ["a", "b\u001b"] }, ["waiting for a, b␛"]],
    [
      {
        type: "missing",
        servers: [
          { server: "a\u001b", message: "gone" },
          { server: "b", message: "late", next: "wait" },
        ],
      },
      ["a␛ not available: gone", "b not available: late\n  next: wait"],
    ],
    [{ type: "note", message: "n\u001b" }, ["note: n␛"]],
    [
      { type: "retry", attempt: 1, delayMs: 1250, reason: "429\u001b" },
      ["the model did not answer: 429␛; trying again in 1.3 s"],
    ],
    [{ type: "text", text: "x" }, []],
    [{ type: "thought", text: "x" }, []],
    [{ type: "progress", id: "1", progress: 1 }, []],
    [{ type: "usage", inputTokens: 1, outputTokens: 1 }, []],
    [{ type: "done", reason: "stop", text: "x", denied: 0, calls: 0 }, []],
  ])("%j", (event, lines) => {
    expect(eventLines(event)).toEqual(lines);
  });
});

test("a call is named after its server and tool, or after the model's name if it goes to no server", () => {
  const { server: _server, serverToolName: _tool, ...own } = call("ok");
  expect(callTitle(call("ok"))).toBe("s.t");
  expect(callTitle({ ...own, server: "s" })).toBe("s.m");
  expect(callTitle(own)).toBe("m");
});

describe("after denied calls, stderr says once how to allow them", () => {
  const tool = "next: to allow a denied tool, add --allow SERVER.TOOL";
  const resource = 'next: to allow a denied resource, add a rule with kind = "resource" to a policy file';
  const { serverToolName: _tool, ...reading } = call("denied");
  test.each<[what: string, denied: readonly CallEvent[], lines: readonly string[]]>([
    ["nothing", [], []],
    ["a tool", [call("denied"), call("denied")], [tool]],
    ["a tool with a step that allows it", [call("denied", { error: error("m", "add --allow s.t") })], [tool]],
    ["a tool with a rule to write", [call("denied", { error: error("m", "fairlead policy allow s.t") })], [tool]],
    ["a tool that only another step helps", [call("denied", { error: error("m", "ask your admin") })], []],
    ["a step that only mentions allowing", [call("denied", { error: error("m", "see: add --allow s.t") })], []],
    ["a resource", [reading], [resource]],
    [
      "a skill, whose line has the step",
      [{ ...reading, error: error("m", "fairlead policy allow --kind skill s.x") }],
      [],
    ],
    ["both", [reading, call("denied")], [tool, resource]],
  ])("%s", (_what, denied, lines) => {
    expect(deniedAdvice(denied)).toEqual(lines);
  });
});
