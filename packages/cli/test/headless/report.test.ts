import { HostError } from "@fairlead/core/errors";
import type { CallEvent, TurnEvent } from "@fairlead/core/turn/events";
import { describe, expect, test } from "vitest";
import {
  addToReport,
  emptyReport,
  reportDocument,
  type TurnReport,
  toEventLine,
  withRequest,
} from "../../src/headless/report.ts";
import { failure, wholeTurn } from "../support/turn-events.ts";

const reportOf = (...events: readonly TurnEvent[]): TurnReport => events.reduce(addToReport, emptyReport);
const call = (id: string, status: CallEvent["status"]): CallEvent => ({
  type: "call",
  id,
  name: "t",
  args: {},
  status,
});
const text = (words: string): TurnEvent => ({ type: "text", text: words });

describe("the report of a turn", () => {
  test("has the last state of each call, in the order of the requests", () => {
    const { calls, denied } = reportOf(
      call("1", "requested"),
      call("2", "requested"),
      call("3", "requested"),
      call("2", "denied"),
      call("1", "ok"),
      call("3", "denied"),
    );
    expect(calls).toEqual([
      { id: "1", name: "t", args: {}, status: "ok" },
      { id: "2", name: "t", args: {}, status: "denied" },
      { id: "3", name: "t", args: {}, status: "denied" },
    ]);
    expect(denied).toBe(2);
  });

  test("has only the last answer: text before a call or a note is dropped", () => {
    expect(reportOf(text("a"), text("b")).text).toBe("ab");
    expect(reportOf(text("a"), call("1", "requested"), text("b"), call("1", "ok"), text("c")).text).toBe("bc");
    const noted = reportOf(text("a"), { type: "note", message: "one" }, text("b"), { type: "note", message: "two" });
    expect(noted).toEqual({ ...emptyReport, text: "", notes: ["one", "two"] });
  });

  test("adds up requests and tokens", () => {
    const { usage } = reportOf(
      { type: "usage", inputTokens: 1, outputTokens: 2, cachedTokens: 3 },
      { type: "retry", attempt: 1, delayMs: 5, reason: "busy" },
      { type: "usage", inputTokens: 10, outputTokens: 20 },
      { type: "usage", inputTokens: 100, outputTokens: 200, cachedTokens: 300 },
    );
    expect(usage).toEqual({ requests: 1, inputTokens: 111, outputTokens: 222, cachedTokens: 303 });
    expect(withRequest(withRequest(emptyReport)).usage).toEqual({ ...emptyReport.usage, requests: 2 });
  });

  test("lists quarantined tools and missing servers", () => {
    const quarantined = (serverToolName: string) => ({ server: "s", serverToolName, reason: "r" });
    const report = reportOf(
      { type: "quarantined", ...quarantined("a") },
      { type: "missing", servers: [{ server: "x", message: "m" }] },
      { type: "quarantined", ...quarantined("b") },
      { type: "missing", servers: [{ server: "y", message: "m", next: "n" }] },
    );
    expect(report).toEqual({
      ...emptyReport,
      quarantined: [quarantined("a"), quarantined("b")],
      missing: [
        { server: "x", message: "m" },
        { server: "y", message: "m", next: "n" },
      ],
    });
  });

  test.each([
    ["stop", true],
    ["length", false],
    ["cancelled", false],
  ] as const)("that ended with %s is ok: %s", (reason, ok) => {
    const done: TurnEvent = { type: "done", reason, text: "last", denied: 4, calls: 9 };
    expect(reportOf(text("first"), done)).toEqual({ ...emptyReport, ok, reason, text: "last", denied: 4 });
  });

  test("is not ok after an error, and says which", () => {
    const done: TurnEvent = { type: "done", reason: "stop", text: "", denied: 0, calls: 0 };
    expect(reportOf(done, { type: "error", error: failure })).toEqual({
      ...emptyReport,
      reason: "stop",
      error: { code: "model", message: "the quota is used up", next: "Wait until tomorrow." },
    });
  });

  test("is not changed by what only a person follows", () => {
    expect(reportOf({ type: "thought", text: "x" }, { type: "waiting", servers: ["s"] })).toEqual(emptyReport);
    expect(reportOf({ type: "progress", id: "1", progress: 1 })).toEqual(emptyReport);
  });
});

describe("the document of a report", () => {
  const { ok: _ok, text: _text, ...counts } = emptyReport;

  test("has a model, a conversation and a reason only if there are any", () => {
    expect(reportDocument(emptyReport)).toEqual({ ok: false, text: "", ...counts });
    const model = { provider: "p", name: "n" };
    expect(reportDocument({ ...emptyReport, ok: true, model, conversation: "c", reason: "stop", text: "x" })).toEqual({
      ok: true,
      model,
      conversation: "c",
      reason: "stop",
      text: "x",
      ...counts,
    });
  });

  test("has the error that decides how the command ends, otherwise the error of the turn", () => {
    const told = { code: "model", message: "told" } as const;
    expect(reportDocument({ ...emptyReport, ok: true, error: told })).toMatchObject({ ok: false, error: told });
    const last = new HostError("denied", "last");
    expect(reportDocument({ ...emptyReport, ok: true, error: told }, last)).toMatchObject({
      ok: false,
      error: { code: "denied", message: "last" },
    });
  });
});

test("each event is a line as it is, an error is a line without its stack", () => {
  expect(wholeTurn.map(toEventLine)).toEqual(wholeTurn);
  expect(toEventLine({ type: "error", error: failure })).toEqual({
    type: "error",
    error: { code: "model", message: "the quota is used up", next: "Wait until tomorrow." },
  });
});
