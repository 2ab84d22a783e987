/** Lays out the `/mcp` panel: the list of servers, or one server with its tabs. */

import type { ServerState } from "@fairlead/core/events";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { colourOf, stateWords } from "../../../output/servers/server-state.ts";
import { typedHere } from "../../slash/typed-here.ts";
import { type OpenServer, offeredVerbs, type PanelState, panelTabs, selectedServer } from "../../state/mcp-panel.ts";
import { clampScroll, type Extent } from "../../state/scroll.ts";
import { bodyWidth, type Frame, frameExtent, frameLines, type Room } from "../frame.ts";
import { clipLine, type Line, span, wrapLine } from "../line.ts";
import { outputLines } from "../text-lines.ts";
import { key } from "./dialog-parts.ts";

/** What the panel shows. `now`: milliseconds on the session's clock. */
export interface PanelView {
  readonly panel: PanelState;
  readonly servers: readonly ServerState[];
  readonly now: number;
}

/** Returns the visible lines of the panel. */
export function panelLines(view: PanelView, room: Room): readonly Line[] {
  const { open } = view.panel;
  const frame = panelFrame(view, room);
  const extent = frameExtent(frame, room);
  return frameLines(
    frame,
    room,
    open === undefined ? firstRow(view, room, extent.page) : clampScroll(open.scroll, extent),
  );
}

/** Returns how many rows the panel's text has, and how many fit on the screen. */
export function panelExtent(view: PanelView, room: Room): Extent {
  return frameExtent(panelFrame(view, room), room);
}

function panelFrame(view: PanelView, room: Room): Frame {
  const { open } = view.panel;
  return open === undefined ? listFrame(view, room) : serverFrame(view, open, room);
}

function listFrame(view: PanelView, room: Room): Frame {
  const { panel, servers } = view;
  const selected = selectedServer(panel, servers);
  return {
    title: [span(safe`MCP servers`, { isBold: true })],
    colour: "cyan",
    body: servers.length === 0 ? [[span(safe`none`)]] : listRows(view, room).flat(),
    keys: [
      key(safe`↑↓`, safe`choose`),
      key(safe`Enter`, safe`open`),
      ...(selected === undefined ? [] : verbKeys(selected)),
      key(safe`Esc`, safe`close`),
    ],
  };
}

/** Returns the rows of each server. The selected server also shows its error message and what to do. */
function listRows({ panel, servers, now }: PanelView, room: Room): readonly (readonly Line[])[] {
  const width = bodyWidth(room);
  const selected = selectedServer(panel, servers);
  return servers.map((state) => {
    const isSelected = state === selected;
    const signIn = panel.signIns.get(state.name);
    const facts = [
      stateWords(state, now),
      ...sinceWords(state, now),
      ...peerWords(state),
      ...(signIn === undefined ? [] : [signIn]),
    ];
    const head = clipLine(
      [
        span(isSelected ? safe`› ` : safe`  `, { isBold: true }),
        span(toVisibleLine(state.name), { isBold: isSelected }),
        span(safe`  `),
        span(joinSafe(facts, safe` · `), { colour: colourOf(state) }),
      ],
      width,
    );
    return [head, ...(isSelected ? whyRows(state, width) : [])];
  });
}

/** Scrolls the list so far that the selected server is visible. */
function firstRow(view: PanelView, room: Room, page: number): number {
  const selected = selectedServer(view.panel, view.servers);
  const rows = listRows(view, room);
  const at = selected === undefined ? -1 : view.servers.indexOf(selected);
  const above = rows.slice(0, Math.max(0, at)).flat().length;
  const own = rows[at]?.length ?? 0;
  return Math.max(0, above + own - page);
}

function serverFrame({ panel, servers, now }: PanelView, { server, tab, text }: OpenServer, room: Room): Frame {
  const width = bodyWidth(room);
  const state = selectedServer(panel, servers);
  const tabs = panelTabs.map((each) =>
    span(each === tab ? safe`[${word(each)}] ` : safe` ${word(each)}  `, { isBold: each === tab }),
  );
  const facts = state === undefined ? [] : [stateWords(state, now), ...sinceWords(state, now), ...peerWords(state)];
  const signIn = panel.signIns.get(server);
  return {
    title: [span(toVisibleLine(server), { isBold: true })],
    colour: "cyan",
    body: [
      ...wrapLine([span(joinSafe([...facts, ...(signIn === undefined ? [] : [signIn])], safe` · `))], width),
      ...(state === undefined ? [] : whyRows(state, width)),
      ...wrapLine(tabs, width),
      ...(text === undefined ? [[span(safe`…`)]] : outputLines(text === "" ? "(empty)" : text, width)),
    ],
    keys: [
      key(safe`←→`, safe`switch tab`),
      key(safe`↑↓`, safe`scroll`),
      ...(state === undefined ? [] : verbKeys(state)),
      key(safe`Esc`, safe`back`),
    ],
  };
}

function verbKeys(state: ServerState): readonly Line[] {
  return offeredVerbs(state).map(({ letter, words }) => key(toSafeLine(letter), toSafeLine(words)));
}

function whyRows(state: ServerState, width: number): readonly Line[] {
  if (!("message" in state)) return [];
  const next = state.next === undefined ? [] : [safe`next: ${toSafeLine(typedHere(state.next))}`];
  return [toSafeLine(state.message), ...next].flatMap((line) =>
    wrapLine([span(line)], width - 4).map((row) => [span(safe`    `), ...row]),
  );
}

function sinceWords(state: ServerState, now: number): readonly SafeText[] {
  if (state.status !== "connecting") return [];
  return [safe`${Math.max(0, Math.floor((now - state.since) / 1000))} s`];
}

function peerWords(state: ServerState): readonly SafeText[] {
  if (state.status !== "connected") return [];
  const { protocolVersion, transport, serverInfo } = state.peer;
  const how = transport === undefined ? [] : [toSafeLine(transport)];
  return [safe`MCP ${toSafeLine(protocolVersion)}`, ...how, toSafeLine(`${serverInfo.name} ${serverInfo.version}`)];
}

function word(tab: string): SafeText {
  return toSafeLine(tab);
}
