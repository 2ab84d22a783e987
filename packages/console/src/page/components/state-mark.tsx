/**
 * A state, told three times: by a shape, by a word and by a colour. The words are those of `fairlead mcp list` and
 * `fairlead doctor`. A page that has lost its connection shows states without colour, because they may be out of date.
 */

import type { VNode } from "preact";
import type { CallRow, ServerRow } from "../../protocol/rows.ts";
import { useNow } from "../app.ts";
import { countdownText } from "./age.tsx";

export type Tone = "ok" | "bad" | "warn" | "busy" | "idle" | "change";

const shapes = {
  check: "M3.500 8.500 6.800 11.500 12.500 5",
  cross: "M4.500 4.500l7 7M11.500 4.500l-7 7",
  exclamation: "M8 4v5M8 11.700v.1",
  question: "M5.800 6a2.200 2.200 0 1 1 3.400 1.900c-.8.5-1.200.9-1.200 1.700M8 11.900v.1",
  dashes:
    "M8 3.500a4.500 4.500 0 0 1 3.200 1.300M12.500 8a4.500 4.500 0 0 1-1.300 3.200M8 12.500a4.500 4.500 0 0 1-3.200-1.300M3.500 8a4.500 4.500 0 0 1 1.300-3.200",
  half: "M8 3.500a4.500 4.500 0 0 1 0 9",
  ring: "M8 4.500a3.500 3.500 0 1 1 0 7 3.500 3.500 0 0 1 0-7z",
  dash: "M4.500 8h7",
  lock: "M4.500 7.500h7v5h-7zM6 7.500V6a2 2 0 0 1 4 0v1.500",
  triangle: "M8 3.800 12.800 12H3.200z",
} as const;

export type Shape = keyof typeof shapes;

export interface State {
  readonly word: string;
  readonly shape: Shape;
  readonly tone: Tone;
}

/** Shows a state. */
export function StateMark({ word, shape, tone }: State): VNode {
  return (
    <span class={`state-mark tone-${tone}`}>
      <svg class="state-shape" width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
        <path d={shapes[shape]} />
      </svg>
      <span class="state-word">{word}</span>
    </span>
  );
}

/** The groups by which servers are filtered and sorted: those that a person should look at come first. */
export type ServerGroup =
  | "failed"
  | "cannot start"
  | "needs sign-in"
  | "blocked"
  | "reconnecting"
  | "connecting"
  | "connected"
  | "idle"
  | "disabled";

/** All groups in the order in which servers are shown. */
export const serverGroups: readonly ServerGroup[] = [
  "failed",
  "cannot start",
  "needs sign-in",
  "blocked",
  "reconnecting",
  "connecting",
  "connected",
  "idle",
  "disabled",
];

/** Groups in which a server does not work and would not without help or luck. */
const notFine: ReadonlySet<ServerGroup> = new Set(serverGroups.slice(0, 5));

export function isNotFine(row: ServerRow): boolean {
  return notFine.has(groupOf(row));
}

export function groupOf({ status, reason }: Pick<ServerRow, "status" | "reason">): ServerGroup {
  switch (status) {
    case "connected":
    case "disabled":
    case "connecting":
      return status;
    case "disconnecting":
      return "connecting";
    case "needs_auth":
      return "needs sign-in";
    case "blocked":
      // The settings exclude the server, as they disable another one.
      return reason === "not_allowed" || reason === "excluded" ? "disabled" : "blocked";
    case "disconnected":
      if (reason === "backoff") return "reconnecting";
      if (reason === "settings_invalid" || reason === "variable_unset") return "cannot start";
      return reason === undefined || reason === "lazy" ? "idle" : "failed";
  }
}

const looks: Readonly<Record<ServerGroup, Omit<State, "word">>> = {
  failed: { shape: "cross", tone: "bad" },
  "cannot start": { shape: "cross", tone: "bad" },
  "needs sign-in": { shape: "lock", tone: "warn" },
  blocked: { shape: "exclamation", tone: "warn" },
  reconnecting: { shape: "dashes", tone: "busy" },
  connecting: { shape: "half", tone: "busy" },
  connected: { shape: "check", tone: "ok" },
  idle: { shape: "ring", tone: "idle" },
  disabled: { shape: "dash", tone: "idle" },
};

const blockedWords: Readonly<Record<string, string>> = {
  awaiting_approval: "awaiting approval",
  untrusted_folder: "not trusted",
  not_allowed: "not allowed",
  excluded: "excluded",
};

export function serverState(row: Pick<ServerRow, "status" | "reason">): State {
  const group = groupOf(row);
  const word = row.status === "blocked" ? (blockedWords[row.reason ?? ""] ?? "blocked") : group;
  return { ...looks[group], word: row.status === "disconnecting" ? "stopping" : word };
}

/** The state of a server. While it waits for its next try, the mark counts down. */
export function ServerStatus({ row }: { readonly row: ServerRow }): VNode {
  const state = serverState(row);
  if (row.nextTryAt === undefined || groupOf(row) !== "reconnecting") return <StateMark {...state} />;
  return <WaitingMark state={state} until={row.nextTryAt} />;
}

function WaitingMark({ state, until }: { readonly state: State; readonly until: number }): VNode {
  const now = useNow();
  return <StateMark {...state} word={until <= now ? "reconnecting" : `again in ${countdownText(until - now)}`} />;
}

const callStates: Readonly<Record<CallRow["state"], State>> = {
  asking: { word: "asks", shape: "question", tone: "warn" },
  running: { word: "running", shape: "half", tone: "busy" },
  ok: { word: "ok", shape: "check", tone: "ok" },
  error: { word: "failed", shape: "cross", tone: "bad" },
  denied: { word: "denied", shape: "dash", tone: "bad" },
  cancelled: { word: "cancelled", shape: "dash", tone: "idle" },
};

export function CallMark({ state }: { readonly state: CallRow["state"] }): VNode {
  return <StateMark {...callStates[state]} />;
}
