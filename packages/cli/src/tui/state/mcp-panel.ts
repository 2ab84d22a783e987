/**
 * The state of the `/mcp` panel, and what its keys do: the selected server, the open server and its tab. Pure
 * functions.
 */

import type { ServerState } from "@fairlead/core/events";
import type { SafeText } from "@fairlead/core/text/safe-text";
import type { Key } from "../input/keys.ts";
import { scrollKey } from "./scroll.ts";

export const serverVerbs = ["start", "stop", "restart", "enable", "disable", "auth", "test"] as const;
export type ServerVerb = (typeof serverVerbs)[number];

export const panelTabs = ["tools", "prompts", "resources", "log", "calls"] as const;
export type PanelTab = (typeof panelTabs)[number];

export interface PanelState {
  /** The selected server by its name, because its position in the list may change. */
  readonly server?: string;
  readonly signIns: ReadonlyMap<string, SafeText>;
  readonly open?: OpenServer;
}

export interface OpenServer {
  readonly server: string;
  readonly tab: PanelTab;
  readonly scroll: number;
  /** The text of the tab. Undefined while it loads. */
  readonly text?: SafeText;
}

export type PanelStep =
  | { readonly kind: "stay"; readonly panel: PanelState }
  | { readonly kind: "close" }
  /** The app must load the text of this tab. */
  | { readonly kind: "look"; readonly panel: PanelState; readonly server: string; readonly tab: PanelTab }
  | { readonly kind: "do"; readonly verb: ServerVerb; readonly server: string };

/** The actions on a server, in the order of their keys on the screen. */
export const panelVerbs: readonly { readonly letter: string; readonly verb: ServerVerb; readonly words: string }[] = [
  { letter: "s", verb: "start", words: "start" },
  { letter: "x", verb: "stop", words: "stop" },
  { letter: "r", verb: "restart", words: "restart" },
  { letter: "e", verb: "enable", words: "enable" },
  { letter: "d", verb: "disable", words: "disable" },
  { letter: "a", verb: "auth", words: "sign in" },
  { letter: "t", verb: "test", words: "test" },
];

export function openPanel(): PanelState {
  return { signIns: new Map() };
}

/** Returns the server that the keys act on. */
export function selectedServer({ server, open }: PanelState, servers: readonly ServerState[]): ServerState | undefined {
  const wanted = open?.server ?? server;
  return servers.find(({ name }) => name === wanted) ?? servers[0];
}

/** Returns the actions that are possible in the server's current state. */
export function offeredVerbs(state: ServerState): readonly (typeof panelVerbs)[number][] {
  return panelVerbs.filter(({ verb }) => changes(verb, state));
}

function changes(verb: ServerVerb, state: ServerState): boolean {
  const { status } = state;
  const transport = status === "connected" ? state.peer.transport : "unknown";
  const isOff = status === "disabled" || status === "blocked";
  const isRunning = status === "connected" || status === "connecting";
  switch (verb) {
    case "start":
      return !isOff && !isRunning;
    case "stop":
      return isRunning;
    case "enable":
      return status === "disabled";
    case "disable":
      return status !== "disabled";
    case "restart":
      return !isOff;
    case "auth":
      // A stdio server takes credentials from its settings entry. The demo server needs no credentials.
      return !isOff && transport !== "stdio" && transport !== undefined;
    case "test":
      return !isOff && transport !== undefined;
  }
}

export function panelKey(panel: PanelState, key: Key, servers: readonly ServerState[]): PanelStep {
  const state = selectedServer(panel, servers);
  const isLetter = key.name === "text" && key.ctrl !== true && key.meta !== true;
  if (key.name === "escape" || (isLetter && key.text === "q") || isCtrlC(key)) return back(panel);
  if (state === undefined) return { kind: "stay", panel };
  const wanted = isLetter ? offeredVerbs(state).find(({ letter }) => letter === key.text) : undefined;
  if (wanted !== undefined) return { kind: "do", verb: wanted.verb, server: state.name };
  return panel.open === undefined ? listKey(panel, key, servers, state) : openKey(panel, panel.open, key);
}

function back({ open, ...panel }: PanelState): PanelStep {
  return open === undefined ? { kind: "close" } : { kind: "stay", panel: { ...panel, server: open.server } };
}

function listKey(panel: PanelState, { name }: Key, servers: readonly ServerState[], state: ServerState): PanelStep {
  if (name === "enter" || name === "right") return look(panel, state.name, "tools");
  const by = name === "up" ? -1 : name === "down" ? 1 : 0;
  const next = servers[(servers.indexOf(state) + by + servers.length) % servers.length];
  return { kind: "stay", panel: { ...panel, server: (next ?? state).name } };
}

function openKey(panel: PanelState, open: OpenServer, key: Key): PanelStep {
  const by = key.name === "left" || (key.name === "tab" && key.shift === true) ? -1 : isOnward(key) ? 1 : 0;
  if (by !== 0) {
    const at = panelTabs.indexOf(open.tab) + by;
    return look(panel, open.server, panelTabs[(at + panelTabs.length) % panelTabs.length] ?? "tools");
  }
  // The scroll position has no upper limit here. The view limits it to the length of the text.
  const extent = { rows: Number.MAX_SAFE_INTEGER, page: pageRows };
  const scroll = key.name === "end" ? open.scroll : (scrollKey(open.scroll, key, extent) ?? open.scroll);
  return { kind: "stay", panel: { ...panel, open: { ...open, scroll } } };
}

const pageRows = 10;

function isOnward({ name }: Key): boolean {
  return name === "right" || name === "tab";
}

function look(panel: PanelState, server: string, tab: PanelTab): PanelStep {
  return { kind: "look", server, tab, panel: { ...panel, server, open: { server, tab, scroll: 0 } } };
}

function isCtrlC({ name, text, ctrl }: Key): boolean {
  return name === "text" && ctrl === true && text === "c";
}
