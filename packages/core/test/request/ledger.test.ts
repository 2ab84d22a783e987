import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { answerOf, HostLedger, type LedgerRow } from "../../src/request/ledger.ts";
import { rule } from "../support/sample-rules.ts";

test.each([
  ["yes", {}],
  ["typed", {}],
  ["no", { refusal: "user" }],
  [undefined, { refusal: "no_terminal" }],
] as const)("a denied request whose question was answered with %s is recorded with %o", (how, recorded) => {
  expect(answerOf({ outcome: "denied", needsConfirmation: true, how })).toEqual(recorded);
});

test.each([
  [{ acceptChanged: true }, "in_advance"],
  [{ acceptChanged: true, how: "yes" }, "asked"],
  [{ acceptChanged: true, how: "typed" }, "typed"],
  [{ confirmed: "in_advance" }, "in_advance"],
  [{ how: "yes" }, "asked"],
] as const)("a request that ran with %o is recorded as %s", (facts, answer) => {
  expect(answerOf({ outcome: "ok", needsConfirmation: true, isAnswered: true, ...facts })).toEqual({ answer });
});

test.each([
  ["denied by a rule", { outcome: "denied", needsConfirmation: false, isAnswered: true, how: "yes" }],
  ["that changed meanwhile", { outcome: "changed", needsConfirmation: true, isAnswered: true, how: "yes" }],
  ["that needs no confirmation", { outcome: "ok", needsConfirmation: false }],
] as const)("a request %s is recorded without an answer", (_, facts) => {
  expect(answerOf(facts)).toEqual({});
});

test("a request that failed after a yes is recorded with it", () => {
  const facts = { outcome: "tool_error", needsConfirmation: true, isAnswered: true } as const;
  expect(answerOf({ ...facts, how: "yes" })).toEqual({ answer: "asked" });
  expect(answerOf({ ...facts, confirmed: true })).toEqual({ answer: "asked" });
});

const allow = rule("user", "allow");
const rowOf = (serverToolName: string, more: Partial<LedgerRow> = {}, request: object = {}): LedgerRow => ({
  request: { serverName: "s", serverToolName, ...request },
  decision: { decision: "allow", rule: allow },
  outcome: "ok",
  durationMs: 3,
  ...more,
});

/** A ledger in a folder of its own, and the events that the host emits. */
async function ledger(isWritable = true) {
  const folder = await temporaryFolder();
  if (!isWritable) await folder.write("state", "a file in place of the folder");
  const events: unknown[] = [];
  const open = (workspace: string): HostLedger =>
    new HostLedger({
      state: join(folder.path, "state"),
      keepArguments: () => true,
      workspace: () => workspace,
      mode: "default",
      now: () => 1_700_000_000_000,
      clock: systemClock,
      emit: (event) => events.push(event),
    });
  return { open, events, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

test("the tools that ran in this workspace are read from history, the latest first", async () => {
  await using at = await ledger();
  const here = at.open("/w");
  here.record(rowOf("a"));
  here.record(rowOf("b", { outcome: "tool_error" }));
  here.record(rowOf("p", {}, { kind: "prompt" }));
  here.record(rowOf("c", { decision: { decision: "allow", rule: rule("administrator", "allow") } }));
  await here.flush();
  const there = at.open("/other");
  there.record(rowOf("d"));
  await there.flush();
  const used = (tool: string): object => ({ serverName: "s", serverToolName: tool });
  expect(await at.open("/w").usedTools()).toEqual([used("c"), used("a")]);
  expect(await there.usedTools()).toEqual([used("d")]);
  expect(at.events).toEqual([]);
});

test("if history cannot be written, the host says so once", async () => {
  await using at = await ledger(false);
  const host = at.open("/w");
  host.record(rowOf("a"));
  host.record(rowOf("b"));
  await host.flush();
  host.record(rowOf("c"));
  await host.flush();
  expect(at.events).toEqual([{ type: "history_failed", message: expect.stringMatching(/./) }]);
  expect(await host.usedTools()).toEqual([]);
});

test("a host without requests reports no failure of history, and has used no tools", async () => {
  await using at = await ledger();
  await at.open("/w").flush();
  expect([at.events, await at.open("/w").usedTools()]).toEqual([[], []]);
});
