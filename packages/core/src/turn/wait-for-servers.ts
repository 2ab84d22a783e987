/** Starts servers without a known catalog before the model is asked, and waits for them for a limited time. */

import { sleep } from "../clock.ts";
import type { ServerState } from "../events.ts";
import type { MissingServer, TurnEvent } from "./events.ts";
import type { ConversationState } from "./state.ts";
import type { TurnHost } from "./turn-host.ts";
import { untilAborted } from "./until-aborted.ts";

/** Waits once for each server. The tools of a later one are added when it is connected. */
export async function* waitForServers(
  { toolSelection, awaited, missing, wait }: ConversationState,
  host: TurnHost,
  signal: AbortSignal,
): AsyncGenerator<TurnEvent, void, undefined> {
  const isUnknown = (server: string): boolean => host.known(server) === undefined;
  const strangers = toolSelection.servers().filter((server) => isUnknown(server) && !awaited.has(server));
  if (strangers.length === 0) return;
  await untilAborted(host.recall(strangers), signal);
  for (const server of strangers) awaited.add(server);
  const starting = startable(strangers.filter(isUnknown), host.states());
  if (starting.length > 0 && wait > 0) yield { type: "waiting", servers: starting };
  if (starting.length > 0) await startAndWait(starting, { host, wait, signal });
  const absent = strangers.filter(isUnknown);
  for (const server of absent) missing.add(server);
  if (absent.length > 0) yield { type: "missing", servers: describe(absent, host.states(), wait) };
}

/** Announces servers that have connected since they were reported missing. */
export function* announceArrivals(
  { missing }: ConversationState,
  host: TurnHost,
): Generator<TurnEvent, void, undefined> {
  for (const server of missing) {
    if (host.known(server) === undefined) continue;
    missing.delete(server);
    yield { type: "note", message: `"${server}" is connected: the model now has its tools` };
  }
}

async function startAndWait(
  servers: readonly string[],
  { host, wait, signal }: { readonly host: TurnHost; readonly wait: number; readonly signal: AbortSignal },
): Promise<void> {
  const enough = new AbortController();
  const timeout = sleep(host.clock, wait, enough.signal).catch(() => undefined);
  try {
    await untilAborted(Promise.race([host.start(servers), timeout]), signal);
  } finally {
    enough.abort();
  }
}

function startable(servers: readonly string[], states: readonly ServerState[]): readonly string[] {
  const closed = new Set(
    states.flatMap(({ name, status }) => (status === "blocked" || status === "disabled" ? name : [])),
  );
  return servers.filter((server) => !closed.has(server));
}

function describe(servers: readonly string[], states: readonly ServerState[], wait: number): readonly MissingServer[] {
  return servers.map((server) => {
    const state = states.find(({ name }) => name === server);
    if (state === undefined || !("message" in state))
      return { server, message: `"${server}" did not list its tools within ${wait / 1000} s` };
    const { message, next } = state;
    return { server, message, ...(next !== undefined && { next }) };
  });
}
