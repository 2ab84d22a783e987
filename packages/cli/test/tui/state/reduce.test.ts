import { HostError } from "@fairlead/core/errors";
import type { HostEvent, ServerState } from "@fairlead/core/events";
import type { DoneReason } from "@fairlead/core/turn/events";
import { expect, test } from "vitest";
import { emptyEditor, insert } from "../../../src/tui/input/editor.ts";
import type { AppEvent, AppState } from "../../../src/tui/state/app-state.ts";
import { openDialog } from "../../../src/tui/state/dialog.ts";
import { initialState } from "../../../src/tui/state/reduce.ts";
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

test("progress of an unknown call changes nothing", () => {
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
  expect(changed.items).toMatchObject([{ kind: "note", tone: "info" }]);
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

test("the app starts with an empty transcript and an empty prompt", () => {
  expect(initialState({ provider: "manual", name: "" }, [], { columns: 80, rows: 24 })).toEqual({
    items: [],
    settled: 0,
    epoch: 0,
    drawnFrom: 0,
    turn: { kind: "idle" },
    questions: [],
    focus: "input",
    editor: emptyEditor,
    history: { entries: [], at: 0, draft: "" },
    waiting: [],
    servers: [],
    model: { provider: "manual", name: "" },
    usage: { inputTokens: 0, outputTokens: 0 },
    context: undefined,
    isQuitArmed: false,
    isQuitting: false,
    size: { columns: 80, rows: 24 },
    serial: 0,
  });
});

const tokens = { declarations: 1, history: 2, results: 3, context: 100 };
const lazy = { name: "a", since: 1, status: "disconnected", reason: "lazy" } as const;
const completion = { from: 0, to: 1, suggestions: [], at: 0 } as unknown as NonNullable<AppState["completion"]>;
const panel = { kind: "list" } as unknown as NonNullable<AppState["panel"]>;
const editor = insert(emptyEditor, "x");
/** A state in which most parts have a value. */
const busy: AppState = { ...idle, completion, panel, isQuitArmed: true, editor, waiting: ["one"] };
const { completion: _completion, ...closed } = busy;
const { panel: _panel, ...withoutPanel } = busy;

test.each<[AppEvent, AppState]>([
  [
    { type: "servers", servers: [lazy] },
    { ...busy, servers: [lazy] },
  ],
  [
    { type: "model", model: { provider: "gemini", name: "m" } },
    { ...busy, model: { provider: "gemini", name: "m" } },
  ],
  [
    { type: "context", tokens },
    { ...busy, context: tokens },
  ],
  [
    { type: "wait", text: "two" },
    { ...busy, waiting: ["one", "two"] },
  ],
  [
    { type: "waited", count: 1 },
    { ...busy, waiting: [] },
  ],
  [{ type: "cancelling" }, busy],
  [{ type: "focus", focus: "dialog" }, busy],
  [{ type: "completion" }, closed],
  [
    { type: "completion", completion: { ...completion, to: 2 } },
    { ...busy, completion: { ...completion, to: 2 } },
  ],
  [{ type: "panel" }, withoutPanel],
  [{ type: "panel", panel }, busy],
  [
    { type: "edit", editor: emptyEditor },
    { ...closed, editor: emptyEditor, isQuitArmed: false },
  ],
  [
    { type: "entered", text: "x" },
    { ...closed, editor: emptyEditor, history: { entries: ["x"], at: 1, draft: "" }, isQuitArmed: false },
  ],
  [
    { type: "history", entries: ["a", "b"] },
    { ...busy, history: { entries: ["a", "b"], at: 2, draft: "" } },
  ],
  [
    { type: "arm_quit", isArmed: false },
    { ...busy, isQuitArmed: false },
  ],
  [
    { type: "note", tone: "info", text: "n" },
    { ...busy, items: [{ key: "item-1", kind: "note", tone: "info", text: "n" }], settled: 1, serial: 1 },
  ],
  [
    { type: "note", tone: "error", text: "n", next: "do" },
    { ...busy, items: [{ key: "item-1", kind: "note", tone: "error", text: "n", next: "do" }], settled: 1, serial: 1 },
  ],
  [
    { type: "output", title: "t", text: "o" },
    { ...busy, items: [{ key: "item-1", kind: "output", title: "t", text: "o" }], settled: 1, serial: 1 },
  ],
])("the state after %j", (event, expected) => {
  expect(after(busy, event)).toEqual(expected);
});

test("a turn that is being cancelled says so, and its messages keep their attachments", () => {
  const state = after(idle, { type: "sent", text: "go", attachments: ["a.txt"], now: 7 }, { type: "cancelling" });
  expect(state.turn).toEqual({ kind: "running", startedAt: 7, isCancelling: true });
  expect(state.items).toEqual([{ key: "item-1", kind: "person", text: "go", attachments: ["a.txt"] }]);
});

test("a cleared transcript keeps what is still open", () => {
  const usage = { type: "usage", inputTokens: 10, outputTokens: 2 } as const;
  const state = after(inTurn(usage, call("a", "running")), { type: "context", tokens });
  const cleared = after(state, { type: "clear" });
  const { settled, drawnFrom, epoch, context } = cleared;
  expect(told(cleared)).toEqual(["|", "call a running"]);
  expect({ settled, drawnFrom, epoch, context, usage: cleared.usage }).toEqual({
    settled: 0,
    drawnFrom: 0,
    epoch: 1,
    context: undefined,
    usage: { inputTokens: 0, outputTokens: 0 },
  });
});

const peer = { era: "legacy", protocolVersion: "2025-06-18", serverInfo: { name: "s", version: "1" } } as const;
const connected = { name: "a", since: 0, status: "connected", peer } as const;
const ending = { name: "a", since: 1, status: "disconnecting" } as const;
const because = { reason: "server_exited", message: "it ended" } as const;

test.each<[string, ServerState, ServerState, readonly object[]]>([
  ["a lost connection", connected, { ...ending, because }, [{ text: "it ended" }]],
  [
    "a lost connection with advice",
    connected,
    { ...ending, because: { ...because, next: "do" } },
    [{ text: "it ended", next: "do" }],
  ],
  ["a connection that the user ends", connected, ending, []],
  ["another state", connected, lazy, []],
  ["the end of a connection that never was", lazy, { ...ending, because }, []],
])("the note about %s", (_, before, state, notes) => {
  const next = after({ ...idle, servers: [before] }, { type: "host", event: { type: "state", state } });
  expect(next.servers).toEqual([state]);
  expect(next.items.map(({ key: _key, ...item }) => item)).toEqual(
    notes.map((note) => ({ kind: "note", tone: "warning", ...note })),
  );
  expect(next.settled).toBe(notes.length);
});

const noTools = { added: ["x"], removed: ["y"], changed: [] };
test.each<[HostEvent, string | undefined]>([
  [{ type: "history_failed", message: "disk full" }, "the history cannot be written: disk full"],
  [
    { type: "conversation_not_recorded", conversation: "c", message: "disk full" },
    "the conversation is no longer recorded: disk full",
  ],
  [
    { type: "refresh_failed", server: "a", list: "tools", error: { reason: "call_timeout", message: "too slow" } },
    '"a" reported changed tools, but they could not be read: too slow',
  ],
  [{ type: "catalog", server: "a", lists: ["tools"], tools: noTools }, undefined],
  [{ type: "settings_changed", file: "f" }, undefined],
  [{ type: "servers", kept: [], added: [], removed: [], replaced: [] }, undefined],
])("the warning about %j", (event, text) => {
  const next = after(idle, { type: "host", event });
  if (text === undefined) expect(next).toBe(idle);
  else expect(next.items).toEqual([{ key: "item-1", kind: "note", tone: "warning", text }]);
});

test.each(["discovery", "fetching", "stderr", "list_changed", "log", "resource_updated"] as const)(
  "the app ignores the host's event %s",
  (type) => {
    expect(after(idle, { type: "host", event: { type } as HostEvent })).toBe(idle);
  },
);

const trust = (key: string, root = "/") => ({ kind: "trust", key, root, servers: [], approved: [] }) as const;

test("the next question opens when the first one is answered, and is not seen yet", () => {
  const state = after(idle, { type: "arm_quit", isArmed: true }, { type: "ask", question: trust("a") });
  expect([state.focus, state.dialog?.key, state.isQuitArmed]).toEqual(["unseen", "a", false]);
  // What is not on the screen yet cannot get the focus.
  expect(after(state, { type: "focus", focus: "dialog" })).toBe(state);
  expect(after(state, { type: "drawn", key: "other" })).toBe(state);
  const seen = after(state, { type: "drawn", key: "a" });
  expect([seen.focus, after(seen, { type: "focus", focus: "input" }).focus]).toEqual(["dialog", "input"]);
  expect(after(seen, { type: "drawn", key: "a" })).toBe(seen);
  const two = after(seen, { type: "ask", question: trust("b") });
  expect([two.focus, two.dialog]).toEqual(["dialog", seen.dialog]);
  expect(after(two, { type: "asked", key: "b" })).toEqual(seen);
  const next = after(two, { type: "asked", key: "a" });
  expect([next.questions, next.focus, next.dialog?.key]).toEqual([[trust("b")], "unseen", "b"]);
  const none = after(next, { type: "asked", key: "b" });
  expect([none.questions, none.focus, none.dialog]).toEqual([[], "input", undefined]);
});

test("a question that appears while the user types does not get the keys", () => {
  for (const before of [after(idle, { type: "edit", editor }), after(idle, { type: "panel", panel })])
    expect(after(before, { type: "ask", question: trust("a") }, { type: "drawn", key: "a" }).focus).toBe("input");
});

test("a question is replaced by the one with its key, and a dialog too", () => {
  const state = after(idle, { type: "ask", question: trust("a") }, { type: "ask", question: trust("b") });
  const again = after(state, { type: "ask_again", question: trust("b", "/w") });
  expect(again.questions).toEqual([trust("a"), trust("b", "/w")]);
  const dialog = { ...openDialog(trust("a")), scroll: 3 } as NonNullable<AppState["dialog"]>;
  expect(after(state, { type: "dialog", dialog }).dialog).toBe(dialog);
  expect(after(state, { type: "dialog", dialog: { ...dialog, key: "b" } })).toBe(state);
});

test("a call that is not in the transcript cannot be opened, and an open one is not drawn again", () => {
  expect(after(idle, { type: "fold" })).toBe(idle);
  const running = inTurn(call("a", "running"));
  expect(after(running, { type: "fold", id: "b" })).toBe(running);
  expect(after(running, { type: "fold" }).epoch).toBe(0);
});

test("a large screen shows everything again, and an old call is drawn from its place", () => {
  const note = { type: "note", tone: "info", text: "x" } as const;
  const many = after(inTurn(call("a", "ok"), done), ...Array.from({ length: 60 }, () => note));
  const drawnFrom = (...events: readonly AppEvent[]): number => after(many, ...events).drawnFrom;
  expect(drawnFrom({ type: "resize", size: { columns: 80, rows: 1000 } })).toBe(0);
  expect(drawnFrom({ type: "fold", id: "a" })).toBe(1);
  expect(drawnFrom({ type: "resize", size: { columns: 80, rows: 2 } })).toBe(61);
  expect(drawnFrom({ type: "resize", size: { columns: 80, rows: 3 } })).toBe(60);
});
