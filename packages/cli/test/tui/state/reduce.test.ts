import { HostError } from "@fairlead/core/errors";
import type { DoneReason } from "@fairlead/core/turn/events";
import { expect, test } from "vitest";
import type { AppState } from "../../../src/tui/state/app-state.ts";
import { after, call, done, idle, inTurn, press } from "../../support/tui/app-state.ts";

/** Items in a few words each; a bar where those begin that may still change. */
function told({ items, settled }: AppState): readonly string[] {
  const words = items.map((item) =>
    item.kind === "call" ? `call ${item.call.id} ${item.call.status}` : `${item.kind} ${item.text}`,
  );
  return [...words.slice(0, settled), "|", ...words.slice(settled)];
}

test("what a model says grows in one place, and is finished when it does something else", () => {
  const speaking = inTurn({ type: "text", text: "Hel" }, { type: "text", text: "lo" });
  expect(told(speaking)).toEqual(["person go", "|", "answer Hello"]);
  const calling = after(speaking, { type: "turn", event: call("a", "requested"), now: 1 });
  expect(told(calling)).toEqual(["person go", "answer Hello", "|", "call a requested"]);
  const again = after(calling, { type: "turn", event: { type: "text", text: "And" }, now: 1 });
  expect(told(again)).toEqual(["person go", "answer Hello", "|", "call a requested", "answer And"]);
});

test("thoughts and answers are told apart", () => {
  const state = inTurn({ type: "thought", text: "hm" }, { type: "text", text: "Yes." }, done);
  expect(told(state)).toEqual(["person go", "thought hm", "answer Yes.", "|"]);
});

test("a long answer scrolls up by paragraphs, and a code block stays in one piece", () => {
  const paragraph = "word ".repeat(100).trim();
  const [first, second] = [`${paragraph}\n\n`, `${paragraph}\n\n`];
  const prose = inTurn({ type: "text", text: first }, { type: "text", text: `${second}and` });
  expect(told(prose)).toEqual(["person go", `answer ${first}${second}`, "|", "answer and"]);
  const code = `\`\`\`\n${paragraph}\n\nmore`;
  expect(told(inTurn({ type: "text", text: code }, { type: "text", text: "\n\nand more" }))).toEqual([
    "person go",
    "|",
    `answer ${code}\n\nand more`,
  ]);
});

test("calls side by side: one that ends first waits above for the one before it", () => {
  const both = inTurn(call("a", "running"), call("b", "running"), call("b", "ok", { display: "two" }));
  expect(told(both)).toEqual(["person go", "|", "call a running", "call b ok"]);
  const ended = after(both, { type: "turn", event: call("a", "ok"), now: 1 });
  expect(told(ended)).toEqual(["person go", "call a ok", "call b ok", "|"]);
});

test("a card has what its events told, one by one", () => {
  const state = inTurn(
    call("a", "requested", { args: { text: "hi" } }),
    call("a", "running", { args: { text: "hi" }, rule: "your rule" }),
    { type: "progress", id: "a", progress: 1, total: 2, message: "half" },
  );
  const running = {
    id: "a",
    server: "s",
    tool: "echo",
    args: { text: "hi" },
    status: "running",
    startedAt: 100,
    rule: "your rule",
    progress: { progress: 1, total: 2, message: "half" },
    files: [],
    media: [],
    isOpen: false,
  };
  expect(state.items.at(-1)).toEqual({ key: "item-2", kind: "call", call: running });
  const { progress: _over, ...rest } = running;
  const ended = after(state, { type: "turn", event: call("a", "ok", { display: "x", durationMs: 7 }), now: 200 });
  expect(ended.items.at(-1)).toEqual({
    key: "item-2",
    kind: "call",
    call: { ...rest, args: {}, status: "ok", display: "x", durationMs: 7 },
  });
});

test("progress of a call that nobody knows changes nothing", () => {
  const state = inTurn(call("a", "running"));
  expect(after(state, { type: "turn", event: { type: "progress", id: "other", progress: 1 }, now: 1 })).toEqual(state);
});

test.each<[DoneReason, readonly string[]]>([
  ["stop", []],
  ["cancelled", ["note Cancelled."]],
  ["length", ["note The answer is incomplete: it reached the model's output limit."]],
  ["safety", ["note The model's API stopped the answer (safety filter)."]],
  ["limit", ["note Stopped: this turn reached its maximum number of steps."]],
])("a turn that ends with %s", (reason, notes) => {
  const state = inTurn({ type: "text", text: "Hm" }, { ...done, reason });
  expect([told(state), state.turn]).toEqual([["person go", "answer Hm", ...notes, "|"], { kind: "idle" }]);
});

test("a turn that fails leaves nothing open, and says what to do", () => {
  const error = new HostError("model", "no answer", { next: "try again" });
  const state = inTurn(call("a", "running"), { type: "text", text: "x" }, { type: "error", error });
  expect(told(state)).toEqual(["person go", "call a cancelled", "answer x", "note no answer", "|"]);
  expect(state.items.at(-1)).toEqual({
    key: "item-4",
    kind: "note",
    tone: "error",
    text: "no answer",
    next: "try again",
  });
});

test("whom the turn waits for is told until something comes", () => {
  const waiting = inTurn({ type: "waiting", servers: ["a", "b"] });
  expect(waiting.turn).toEqual({ kind: "running", startedAt: 0, isCancelling: false, doing: "waiting for a, b" });
  const spoken = after(waiting, { type: "turn", event: { type: "text", text: "x" }, now: 1 });
  expect(spoken.turn).toEqual({ kind: "running", startedAt: 0, isCancelling: false });
});

test("tokens add up", () => {
  const usage = { type: "usage", inputTokens: 10, outputTokens: 2 } as const;
  expect(inTurn(usage, usage).usage).toEqual({ inputTokens: 20, outputTokens: 4 });
});

test("a server's state takes the place of the one before, and changed tools are told", () => {
  const connecting = { name: "a", since: 0, status: "connecting" } as const;
  const lazy = { name: "a", since: 1, status: "disconnected", reason: "lazy" } as const;
  const state = after(
    idle,
    { type: "host", event: { type: "state", state: connecting } },
    { type: "host", event: { type: "state", state: lazy } },
  );
  expect(state.servers).toEqual([lazy]);
  const tools = { added: ["x"], removed: [], changed: ["y", "z"] };
  const changed = after(idle, { type: "host", event: { type: "catalog", server: "a", lists: ["tools"], tools } });
  expect(told(changed)).toEqual(['note "a" changed the definitions of these tools: y, z', "|"]);
});

test("on another size what fits the screen is drawn anew, and what has scrolled away is not", () => {
  const many = after(idle, ...Array.from({ length: 60 }, () => ({ type: "note", tone: "info", text: "x" }) as const));
  const { epoch, drawnFrom, size } = after(many, { type: "resize", size: { columns: 40, rows: 10 } });
  expect({ epoch, drawnFrom, size }).toEqual({ epoch: 1, drawnFrom: 55, size: { columns: 40, rows: 10 } });
});

test("an app that quits takes no more keys, and what it shows stays", () => {
  const quitting = after(idle, { type: "note", tone: "info", text: "x" }, { type: "quit" });
  expect([quitting.isQuitting, told(quitting)]).toEqual([true, ["note x", "|"]]);
  expect(press(quitting, "a")).toEqual({ state: quitting, actions: [] });
});

test("the result of the last call is opened and folded, wherever it stands", () => {
  const ended = inTurn(call("a", "ok"), call("b", "ok"), done);
  const isOpen = ({ items }: AppState): readonly boolean[] =>
    items.flatMap((item) => (item.kind === "call" ? item.call.isOpen : []));
  const opened = after(ended, { type: "fold" });
  expect([isOpen(opened), opened.epoch]).toEqual([[false, true], 1]);
  expect(isOpen(after(opened, { type: "fold" }))).toEqual([false, false]);
  expect(isOpen(after(ended, { type: "fold", id: "a" }))).toEqual([true, false]);
});
