/** The state of the `/mcp` panel, and what keys do in it. */

import type { ServerState } from "@fairlead/core/events";
import type { SafeText } from "@fairlead/core/text/safe-text";
import { isCtrl, type Key, letterOf } from "../input/keys.ts";
import { type Extent, scrollKey } from "./scroll.ts";

/** The actions on one server. Each one has the name of its `/mcp` subcommand. */
export const serverVerbs = ["start", "stop", "restart", "enable", "disable", "auth", "test"] as const;
/** An action on one server, such as `start`. */
export type ServerVerb = (typeof serverVerbs)[number];

/** The tabs of a server, in the order on the screen. */
export const panelTabs = ["tools", "prompts", "resources", "log", "calls"] as const;
/** The name of a tab. */
export type PanelTab = (typeof panelTabs)[number];

/** The open panel. `open`: the server whose tabs are shown; absent while the list is shown. */
export interface PanelState {
  /** The name of the selected server. A name, because its position in the list may change. */
  readonly server?: string;
  readonly signIns: ReadonlyMap<string, SafeText>;
  readonly open?: OpenServer;
}

/** The server whose tabs the panel shows. `scroll`: number of rows scrolled down. */
export interface OpenServer {
  readonly server: string;
  readonly tab: PanelTab;
  readonly scroll: number;
  /** The content of the tab. Undefined while it loads. */
  readonly text?: SafeText;
}

/** What a key does in the panel. `stay`: only the panel's state changes. */
export type PanelStep =
  | { readonly kind: "stay"; readonly panel: PanelState }
  | { readonly kind: "close" }
  /** A tab was opened, and the app must load its text. */
  | { readonly kind: "look"; readonly panel: PanelState; readonly server: string; readonly tab: PanelTab }
  | { readonly kind: "do"; readonly verb: ServerVerb; readonly server: string };

/** The actions on a server and their keys, in the order on the screen. */
export const panelVerbs: readonly { readonly letter: string; readonly verb: ServerVerb; readonly words: string }[] = [
  { letter: "s", verb: "start", words: "start" },
  { letter: "x", verb: "stop", words: "stop" },
  { letter: "r", verb: "restart", words: "restart" },
  { letter: "e", verb: "enable", words: "enable" },
  { letter: "d", verb: "disable", words: "disable" },
  { letter: "a", verb: "auth", words: "sign in" },
  { letter: "t", verb: "test", words: "test" },
];

/** Returns the state of a panel that shows the list of servers. */
export function openPanel(): PanelState {
  return { signIns: new Map() };
}

/** Returns the open or selected server. If it no longer exists, returns the first server. */
export function selectedServer({ server, open }: PanelState, servers: readonly ServerState[]): ServerState | undefined {
  const wanted = open?.server ?? server;
  return servers.find(({ name }) => name === wanted) ?? servers[0];
}

/** Returns the actions that make sense for the server's status. `stop`, for example, needs a running server. */
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
      // A stdio server gets its credentials from the settings. The demo server (without transport) needs none.
      return !isOff && transport !== "stdio" && transport !== undefined;
    case "test":
      return !isOff && transport !== undefined;
  }
}

/** Returns what a key does in the panel. Changes nothing itself. `extent` limits how far the user can scroll. */
export function panelKey(panel: PanelState, key: Key, servers: readonly ServerState[], extent: Extent): PanelStep {
  const state = selectedServer(panel, servers);
  const typed = letterOf(key) === undefined ? undefined : key.text;
  if (key.name === "escape" || typed === "q" || isCtrl(key, "c")) return back(panel);
  if (state === undefined) return { kind: "stay", panel };
  const wanted = offeredVerbs(state).find(({ letter }) => letter === typed);
  if (wanted !== undefined) return { kind: "do", verb: wanted.verb, server: state.name };
  return panel.open === undefined ? listKey(panel, key, servers, state) : openKey(panel, panel.open, key, extent);
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

function openKey(panel: PanelState, open: OpenServer, key: Key, extent: Extent): PanelStep {
  const by = key.name === "left" || (key.name === "tab" && key.shift === true) ? -1 : isOnward(key) ? 1 : 0;
  if (by !== 0) {
    const at = panelTabs.indexOf(open.tab) + by;
    return look(panel, open.server, panelTabs[(at + panelTabs.length) % panelTabs.length] ?? "tools");
  }
  const scroll = scrollKey(open.scroll, key, extent) ?? open.scroll;
  return { kind: "stay", panel: { ...panel, open: { ...open, scroll } } };
}

function isOnward({ name }: Key): boolean {
  return name === "right" || name === "tab";
}

function look(panel: PanelState, server: string, tab: PanelTab): PanelStep {
  return { kind: "look", server, tab, panel: { ...panel, server, open: { server, tab, scroll: 0 } } };
}
