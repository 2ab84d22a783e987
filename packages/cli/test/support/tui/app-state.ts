/** An app for tests of its state: events and keys go in, what came of them comes out. */

import type { ToolCallConfirmationDetails } from "@fairlead/core/policy/confirmation";
import { toConfirmationView } from "@fairlead/core/policy/confirmation-view";
import type { CallEvent, TurnEvent } from "@fairlead/core/turn/events";
import { type Action, routeKey } from "../../../src/tui/input/key-router.ts";
import { noKeys, readKeys } from "../../../src/tui/input/keys.ts";
import type { AppEvent, AppState } from "../../../src/tui/state/app-state.ts";
import type { UserQuestion } from "../../../src/tui/state/questions.ts";
import { initialState, reduce } from "../../../src/tui/state/reduce.ts";

export const idle: AppState = initialState({ provider: "scripted", name: "test" }, [], { columns: 80, rows: 24 });

export function after(state: AppState, ...events: readonly AppEvent[]): AppState {
  return events.reduce(reduce, state);
}

/** The state after these events of a turn that has begun. */
export function inTurn(...events: readonly TurnEvent[]): AppState {
  const begun = after(idle, { type: "sent", text: "go", attachments: [], now: 0 });
  return after(begun, ...events.map((event) => ({ type: "turn", event, now: 100 }) as const));
}

export function call(id: string, status: CallEvent["status"], more: Partial<CallEvent> = {}): CallEvent {
  return { type: "call", id, name: "s_echo", server: "s", serverToolName: "echo", args: {}, status, ...more };
}

export const done: Extract<TurnEvent, { readonly type: "done" }> = {
  type: "done",
  reason: "stop",
  text: "",
  denied: 0,
  calls: 0,
};

export interface Pressed {
  readonly state: AppState;
  readonly actions: readonly Action[];
}

/** What a terminal sends, key by key. */
export function press(state: AppState, typed: string): Pressed {
  return readKeys(noKeys, typed).keys.reduce<Pressed>(
    (now, key) => {
      const { events, action } = routeKey(now.state, key);
      return { state: after(now.state, ...events), actions: [...now.actions, ...(action ? [action] : [])] };
    },
    { state, actions: [] },
  );
}

export function confirmation(key: string): UserQuestion {
  const details: ToolCallConfirmationDetails = {
    type: "mcp",
    title: "Confirm MCP Tool Execution",
    serverName: "s",
    toolName: "echo",
    toolDisplayName: "s_echo",
    description: "",
    args: {},
    outcomes: ["proceed_once", "proceed_always_tool", "proceed_always_server", "cancel"],
    onConfirm: async () => {},
  };
  return { key, kind: "confirmation", view: toConfirmationView(details, { who: "model" }) };
}
