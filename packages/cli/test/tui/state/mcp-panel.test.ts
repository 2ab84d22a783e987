import type { ServerState } from "@fairlead/core/events";
import { safe, toSafeText } from "@fairlead/core/text/safe-text";
import { describe, expect, test } from "vitest";
import type { Key } from "../../../src/tui/input/keys.ts";
import {
  offeredVerbs,
  openPanel,
  type PanelState,
  type PanelStep,
  panelKey,
  panelTabs,
  selectedServer,
  serverVerbs,
} from "../../../src/tui/state/mcp-panel.ts";
import { panelExtent, panelLines } from "../../../src/tui/view/dialogs/mcp-panel-frame.ts";

const peer = {
  era: "legacy",
  protocolVersion: "2025-11-25",
  serverInfo: { name: "x", version: "1" },
  transport: "http",
} as const;
const offer = { tools: 3, prompts: 0, resources: 0, resourceTemplates: 0 };
const servers: readonly ServerState[] = [
  { name: "github", since: 0, status: "connected", peer, offer },
  {
    name: "linear",
    since: 0,
    status: "needs_auth",
    reason: "auth_required",
    message: "sign in first",
    next: "fairlead mcp auth linear",
  },
  { name: "slow", since: 1000, status: "connecting" },
];
const { transport: _transport, ...inProcess } = peer;
const list = openPanel();
const extent = { rows: 30, page: 10 };
const opened: PanelState = { ...list, server: "linear", open: { server: "linear", tab: "tools", scroll: 0 } };

test.each<[string, PanelState, Key, PanelStep]>([
  ["down selects the next server", list, { name: "down" }, { kind: "stay", panel: { ...list, server: "linear" } }],
  ["up before the first selects the last", list, { name: "up" }, { kind: "stay", panel: { ...list, server: "slow" } }],
  [
    "Enter opens the one that is selected",
    { ...list, server: "linear" },
    { name: "enter" },
    { kind: "look", server: "linear", tab: "tools", panel: opened },
  ],
  [
    "Tab looks at the next thing",
    opened,
    { name: "tab" },
    {
      kind: "look",
      server: "linear",
      tab: "prompts",
      panel: { ...opened, open: { server: "linear", tab: "prompts", scroll: 0 } },
    },
  ],
  [
    "left of the first is the last",
    opened,
    { name: "left" },
    {
      kind: "look",
      server: "linear",
      tab: "calls",
      panel: { ...opened, open: { server: "linear", tab: "calls", scroll: 0 } },
    },
  ],
  [
    "down scrolls in one that is open",
    opened,
    { name: "down" },
    { kind: "stay", panel: { ...opened, open: { server: "linear", tab: "tools", scroll: 1 } } },
  ],
  [
    "a letter does what it stands for",
    { ...list, server: "linear" },
    { name: "text", text: "a" },
    { kind: "do", verb: "auth", server: "linear" },
  ],
  ["also in one that is open", opened, { name: "text", text: "r" }, { kind: "do", verb: "restart", server: "linear" }],
  [
    "a letter that would change nothing does nothing",
    list,
    { name: "text", text: "s" },
    { kind: "stay", panel: { ...list, server: "github" } },
  ],
  [
    "several letters at once are no command",
    list,
    { name: "text", text: "rr" },
    { kind: "stay", panel: { ...list, server: "github" } },
  ],
  ["Escape goes back to the list", opened, { name: "escape" }, { kind: "stay", panel: { ...list, server: "linear" } }],
  ["Escape closes the list", list, { name: "escape" }, { kind: "close" }],
  ["Ctrl-C closes it too", list, { name: "text", text: "c", ctrl: true }, { kind: "close" }],
])("%s", (_, panel, key, step) => {
  expect(panelKey(panel, key, servers, extent)).toEqual(step);
});

const stay = (panel: PanelState): PanelStep => ({ kind: "stay", panel });
const looking = (tab: (typeof panelTabs)[number]): PanelStep => ({
  kind: "look",
  server: "linear",
  tab,
  panel: { ...opened, open: { server: "linear", tab, scroll: 0 } },
});
const inTab = (tab: (typeof panelTabs)[number], scroll = 0): PanelState => ({
  ...opened,
  open: { server: "linear", tab, scroll },
});
const first = { ...list, server: "github" };

test("the names of the tabs and of the actions are the words of the subcommands", () => {
  expect(panelTabs).toEqual(["tools", "prompts", "resources", "log", "calls"]);
  expect(serverVerbs).toEqual(["start", "stop", "restart", "enable", "disable", "auth", "test"]);
});

test.each<[string, PanelState, Key, PanelStep]>([
  ["q closes the list", list, { name: "text", text: "q" }, { kind: "close" }],
  ["q goes back to the list", opened, { name: "text", text: "q" }, stay({ ...list, server: "linear" })],
  ["Ctrl-C goes back too", opened, { name: "text", text: "c", ctrl: true }, stay({ ...list, server: "linear" })],
  ["Ctrl-Q does nothing", list, { name: "text", text: "q", ctrl: true }, stay(first)],
  ["Alt-Q does nothing", list, { name: "text", text: "q", meta: true }, stay(first)],
  ["c alone does nothing", list, { name: "text", text: "c" }, stay(first)],
  ["a pasted q does nothing", list, { name: "paste", text: "q" }, stay(first)],
  ["a pasted letter is no action", list, { name: "paste", text: "r" }, stay(first)],
  ["Ctrl-R is no action", list, { name: "text", text: "r", ctrl: true }, stay(first)],
  ["Alt-R is no action", list, { name: "text", text: "r", meta: true }, stay(first)],
  ["Ctrl-D is no Ctrl-C", list, { name: "text", text: "d", ctrl: true }, stay(first)],
  ["x stops the selected server", list, { name: "text", text: "x" }, { kind: "do", verb: "stop", server: "github" }],
  ["t tests it", list, { name: "text", text: "t" }, { kind: "do", verb: "test", server: "github" }],
  ["d disables it", list, { name: "text", text: "d" }, { kind: "do", verb: "disable", server: "github" }],
  ["Right opens it", { ...list, server: "linear" }, { name: "right" }, looking("tools")],
  ["Left stays in the list", list, { name: "left" }, stay(first)],
  ["down after the last selects the first", { ...list, server: "slow" }, { name: "down" }, stay(first)],
  ["up selects the one before", { ...list, server: "linear" }, { name: "up" }, stay(first)],
  ["the first is selected if the selected one is gone", { ...list, server: "gone" }, { name: "home" }, stay(first)],
  ["Right opens the next tab", inTab("prompts"), { name: "right" }, looking("resources")],
  ["Tab opens the next tab", inTab("resources"), { name: "tab" }, looking("log")],
  ["after the last tab the first follows", inTab("calls"), { name: "right" }, looking("tools")],
  ["Shift-Tab opens the tab before", inTab("log"), { name: "tab", shift: true }, looking("resources")],
  ["Shift-Right opens the next tab", inTab("log"), { name: "right", shift: true }, looking("calls")],
  ["Left opens the tab before", inTab("prompts"), { name: "left" }, looking("tools")],
  ["End scrolls to the end", inTab("log", 3), { name: "end" }, stay(inTab("log", 20))],
  ["Space scrolls by a page", inTab("log", 3), { name: "text", text: " " }, stay(inTab("log", 12))],
  ["a key without a meaning keeps the row", inTab("log", 3), { name: "insert" }, stay(inTab("log", 3))],
])("in the panel: %s", (_, panel, key, step) => {
  expect(panelKey(panel, key, servers, extent)).toStrictEqual(step);
});

test("e enables a server that is disabled", () => {
  const disabled: ServerState = { name: "off", since: 0, status: "disabled", reason: "user", message: "" };
  const key: Key = { name: "text", text: "e" };
  expect(panelKey(list, key, [disabled], extent)).toEqual({ kind: "do", verb: "enable", server: "off" });
});

test("the selected server is the open one, else the chosen one, else the first one", () => {
  const [github, linear, slow] = servers;
  expect(selectedServer({ ...opened, server: "slow" }, servers)).toBe(linear);
  expect(selectedServer({ ...list, server: "slow" }, servers)).toBe(slow);
  expect(selectedServer({ ...list, server: "gone" }, servers)).toBe(github);
  expect(selectedServer(list, [])).toBeUndefined();
});

test("with no servers there is nothing to do but to close it", () => {
  expect(panelKey(list, { name: "text", text: "s" }, [], extent)).toEqual({ kind: "stay", panel: list });
  expect(panelKey(list, { name: "escape" }, [], extent)).toEqual({ kind: "close" });
});

test.each<[string, ServerState, readonly string[]]>([
  [
    "connected by address",
    { name: "a", since: 0, status: "connected", peer, offer },
    ["stop", "restart", "disable", "auth", "test"],
  ],
  [
    "a program",
    { name: "a", since: 0, status: "connected", peer: { ...peer, transport: "stdio" }, offer },
    ["stop", "restart", "disable", "test"],
  ],
  [
    "not connected",
    { name: "a", since: 0, status: "disconnected", reason: "lazy" },
    ["start", "restart", "disable", "auth", "test"],
  ],
  ["connecting", { name: "a", since: 0, status: "connecting" }, ["stop", "restart", "disable", "auth", "test"]],
  [
    "the demo, which has no transport",
    { name: "a", since: 0, status: "connected", peer: inProcess, offer },
    ["stop", "restart", "disable"],
  ],
  ["disabled", { name: "a", since: 0, status: "disabled", reason: "user", message: "" }, ["enable"]],
  ["blocked", { name: "a", since: 0, status: "blocked", reason: "untrusted_folder", message: "" }, ["disable"]],
])("what is offered for a server that is %s", (_, state, verbs) => {
  expect(offeredVerbs(state).map(({ verb }) => verb)).toEqual(verbs);
});

describe("on the screen", () => {
  const text = (panel: PanelState, room = { width: 100, height: 12 }): readonly string[] =>
    panelLines({ panel, servers, now: 5000 }, room).map((line) => line.map((each) => each.text).join(""));

  test("each server has its state, and the one that is selected also why and what to type", () => {
    expect(text({ ...list, server: "linear", signIns: new Map([["github", safe`signed in as ada`]]) })).toEqual([
      "╭─ MCP servers",
      "│   github  connected: 3 tools · MCP 2025-11-25 · http · x 1 · signed in as ada",
      "│ › linear  needs sign-in",
      "│     sign in first",
      "│     next: /mcp auth linear",
      "│   slow  connecting · 4 s",
      "╰─ ↑↓ choose · Enter open · s start · r restart · d disable · a sign in · t test · Esc close",
    ]);
  });

  test("one that is open shows what was read of it, from where it is scrolled to", () => {
    const log = safe`${Array.from({ length: 30 }, (_, at) => `line ${at}`).join("\n") as ReturnType<typeof safe>}`;
    const lines = text({ ...opened, open: { server: "linear", tab: "log", scroll: 8, text: log } });
    expect(lines).toHaveLength(12);
    expect(lines.slice(0, 3)).toEqual(["╭─ linear", "│ line 4", "│ line 5"]);
  });

  test.each<[string, Key, number, Key]>([
    ["Up moves at once after more Downs than there are rows", { name: "down" }, 50, { name: "up" }],
    ["Page Up moves at once after more Page Downs than there are pages", { name: "pagedown" }, 9, { name: "pageup" }],
    ["Up moves at once after End", { name: "end" }, 1, { name: "up" }],
  ])("%s", (_, onward, count, backward) => {
    const log = toSafeText(Array.from({ length: 30 }, (_row, at) => `line ${at}`).join("\n"));
    let panel: PanelState = { ...opened, open: { server: "linear", tab: "log", scroll: 0, text: log } };
    const press = (key: Key): readonly string[] => {
      const now = 5000;
      const step = panelKey(panel, key, servers, panelExtent({ panel, servers, now }, { width: 100, height: 12 }));
      if (step.kind === "stay") ({ panel } = step);
      return text(panel);
    };
    for (let pressed = 1; pressed < count; pressed += 1) press(onward);
    const end = press(onward);
    expect(end).toContain("│ line 29");
    expect(press(backward)).not.toContain("│ line 29");
  });

  test.each([20, 40])("nothing is wider than %d columns", (width) => {
    const hostile: ServerState = { name: `x${"\u001b[31m日本".repeat(20)}`, since: 0, status: "connecting" };
    const lines = panelLines({ panel: list, servers: [hostile, ...servers], now: 0 }, { width, height: 15 });
    expect(lines.filter((line) => line.map((each) => each.text).join("").length > width)).toEqual([]);
  });
});
