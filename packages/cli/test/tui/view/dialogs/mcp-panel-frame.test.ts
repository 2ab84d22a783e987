import type { ServerState } from "@fairlead/core/events";
import { type SafeText, safe, toSafeText } from "@fairlead/core/text/safe-text";
import { expect, test } from "vitest";
import { openPanel, type PanelState, type PanelTab } from "../../../../src/tui/state/mcp-panel.ts";
import { panelExtent, panelLines } from "../../../../src/tui/view/dialogs/mcp-panel-frame.ts";
import type { Line } from "../../../../src/tui/view/line.ts";

const offer = { tools: 1, prompts: 0, resources: 0, resourceTemplates: 0 };
const serverInfo = { name: "x", version: "1" };
const peer = { era: "legacy", protocolVersion: "2025-11-25", serverInfo, transport: "http" } as const;
const { transport: _transport, ...inProcess } = peer;
const github: ServerState = { name: "github", since: 0, status: "connected", peer, offer };
const mail: ServerState = {
  name: "mail",
  since: 0,
  status: "needs_auth",
  reason: "auth_required",
  message: "sign in first, then the server shows its tools",
};
const slow: ServerState = { name: "slow", since: 6000, status: "connecting" };
const servers = [github, mail, slow];
const wide = { width: 100, height: 12 };

const textOf = (line: Line): string => line.map(({ text }) => text).join("");
const lines = (panel: PanelState, room = wide, all: readonly ServerState[] = servers): readonly Line[] =>
  panelLines({ panel, servers: all, now: 5000 }, room);
const rows = (panel: PanelState, room = wide, all: readonly ServerState[] = servers): readonly string[] =>
  lines(panel, room, all).map(textOf);
const tab = (server: string, name: PanelTab, text?: SafeText): PanelState => ({
  ...openPanel(),
  open: { server, tab: name, scroll: 0, ...(text !== undefined && { text }) },
});

test("the list names each server and its state, and a server that starts counts from zero", () => {
  expect(rows(openPanel())).toEqual([
    "╭─ MCP servers",
    "│ › github  connected: 1 tool · MCP 2025-11-25 · http · x 1",
    "│   mail  needs sign-in",
    "│   slow  connecting · 0 s",
    "╰─ ↑↓ choose · Enter open · x stop · r restart · d disable · a sign in · t test · Esc close",
  ]);
  const off: ServerState = { name: "off", since: 0, status: "disabled", reason: "user", message: "switched off" };
  expect(rows(openPanel(), wide, [off]).at(-1)).toBe("╰─ ↑↓ choose · Enter open · e enable · Esc close");
  expect(rows(openPanel(), wide, [])).toEqual(["╭─ MCP servers", "│ none", "╰─ ↑↓ choose · Enter open · Esc close"]);
});

test("the title and the selected server are bold, the frame is cyan, and each state has its colour", () => {
  const [title, first, second] = lines(openPanel());
  expect(title).toEqual([
    { text: "╭─ ", colour: "cyan" },
    { text: "MCP servers", isBold: true },
  ]);
  expect(first).toEqual([
    { text: "│ ", colour: "cyan" },
    { text: "› ", isBold: true },
    { text: "github", isBold: true },
    { text: "  " },
    { text: "connected: 1 tool · MCP 2025-11-25 · http · x 1", colour: "green" },
  ]);
  expect(second).toEqual([
    { text: "│ ", colour: "cyan" },
    { text: "  ", isBold: true },
    { text: "mail", isBold: false },
    { text: "  " },
    { text: "needs sign-in", colour: "yellow" },
  ]);
});

test("the message of the selected server is wrapped below its name", () => {
  expect(rows({ ...openPanel(), server: "mail" }, { width: 40, height: 20 }).slice(1, 5)).toEqual([
    "│   github  connected: 1 tool · MCP 202…",
    "│ › mail  needs sign-in",
    "│     sign in first, then the server ",
    "│     shows its tools",
  ]);
});

test("the list scrolls only so far that the selected server is visible", () => {
  const many = Array.from(
    { length: 12 },
    (_, at): ServerState => ({ name: `s${at}`, since: 5000, status: "connecting" }),
  );
  const shown = (server: string): readonly string[] =>
    rows({ ...openPanel(), server }, { width: 100, height: 8 }, many).slice(1, -1);
  const row = (name: string, isSelected = false): string => `│ ${isSelected ? "›" : " "} ${name}  connecting · 0 s`;
  expect(shown("s0")).toEqual([
    row("s0", true),
    ...["s1", "s2", "s3", "s4"].map((name) => row(name)),
    "├─ ↓ 7 more rows (arrows, PgDn)",
  ]);
  expect(shown("s4")).toEqual([
    ...["s0", "s1", "s2", "s3"].map((name) => row(name)),
    row("s4", true),
    "├─ ↓ 7 more rows (arrows, PgDn)",
  ]);
  expect(shown("s5")).toEqual([
    ...["s1", "s2", "s3", "s4"].map((name) => row(name)),
    row("s5", true),
    "├─ ↑ 1, ↓ 6 more rows (arrows, PgDn)",
  ]);
  expect(shown("s11")).toEqual([
    ...["s7", "s8", "s9", "s10"].map((name) => row(name)),
    row("s11", true),
    "├─ the end; ↑ 7 rows",
  ]);
});

test("an open server shows its state, its tabs and the text of the open tab", () => {
  expect(rows(tab("github", "log", toSafeText("one\ntwo")))).toEqual([
    "╭─ github",
    "│ connected: 1 tool · MCP 2025-11-25 · http · x 1",
    "│  tools   prompts   resources  [log]  calls  ",
    "│ one",
    "│ two",
    "╰─ ←→ switch tab · ↑↓ scroll · x stop · r restart · d disable · a sign in · t test · Esc back",
  ]);
  const signIns = new Map([["mail", safe`signed out`]]);
  expect(rows({ ...tab("mail", "tools"), signIns })).toEqual([
    "╭─ mail",
    "│ needs sign-in · signed out",
    "│     sign in first, then the server shows its tools",
    "│ [tools]  prompts   resources   log   calls  ",
    "│ …",
    "╰─ ←→ switch tab · ↑↓ scroll · s start · r restart · d disable · a sign in · t test · Esc back",
  ]);
  expect(rows({ ...tab("slow", "calls", safe``), signIns }).slice(1, 4)).toEqual([
    "│ connecting · 0 s",
    "│  tools   prompts   resources   log  [calls] ",
    "│ (empty)",
  ]);
});

test("the title and the open tab are bold", () => {
  const [title, , tabs = []] = lines(tab("github", "prompts"));
  expect(title).toEqual([
    { text: "╭─ ", colour: "cyan" },
    { text: "github", isBold: true },
  ]);
  expect(textOf(tabs.filter(({ isBold }) => isBold)).trim()).toBe("[prompts]");
});

test("a server without a transport, such as the demo, is described without one", () => {
  const demo: ServerState = { name: "demo", since: 0, status: "connected", peer: inProcess, offer };
  expect(rows(tab("demo", "tools"), wide, [demo]).slice(1, 2)).toEqual(["│ connected: 1 tool · MCP 2025-11-25 · x 1"]);
});

test("a server that is gone has its tabs, but no state and no actions", () => {
  expect(rows(tab("gone", "tools", safe`x`), wide, [])).toEqual([
    "╭─ gone",
    "│ ",
    "│ [tools]  prompts   resources   log   calls  ",
    "│ x",
    "╰─ ←→ switch tab · ↑↓ scroll · Esc back",
  ]);
});

test("panelExtent returns how many rows the panel has, and how many fit", () => {
  const text = toSafeText(Array.from({ length: 30 }, (_, at) => `line ${at}`).join("\n"));
  const extent = (panel: PanelState, height: number): object =>
    panelExtent({ panel, servers, now: 0 }, { width: 100, height });
  expect(extent(tab("github", "log", text), 12)).toEqual({ rows: 32, page: 9 });
  expect(extent(openPanel(), 12)).toEqual({ rows: 3, page: 10 });
});
