/** Connects to servers; a terminal shows which servers are still connecting. */

import type { ServerState } from "@fairlead/core/events";
import type { Host } from "@fairlead/core/host";
import { isConnectSettled } from "../output/servers/server-state.ts";
import { createWaitingLine, type WaitingLine } from "../output/servers/waiting-line.ts";
import type { Context } from "../shell/verb.ts";

interface ConnectOptions {
  readonly onSettled?: (state: ServerState) => void;
  /** Given by a caller that prints while connecting and must hide the line first. */
  readonly waiting?: WaitingLine;
}

/** Resolves when each server is connected or has failed; see its state. @throws HostError `cancelled` on Ctrl-C */
export async function connectServers(
  host: Host,
  names: readonly string[],
  context: Pick<Context, "io" | "globals">,
  { onSettled, waiting = createWaitingLine(context) }: ConnectOptions = {},
): Promise<void> {
  if (names.length === 0) return waiting.end();
  const listening = [
    host.on("state", ({ state }) => {
      if (state.status === "connecting") waiting.started(state.name);
      if (!isConnectSettled(state)) return;
      waiting.settled(state.name);
      waiting.hide();
      onSettled?.(state);
    }),
    host.on("fetching", ({ server }) => waiting.downloads(server)),
    host.on("stderr", ({ server, line }) => waiting.said(server, line)),
  ];
  try {
    await host.start({ servers: names, signal: context.io.signal });
  } finally {
    for (const stop of listening) stop();
    waiting.end();
  }
}
