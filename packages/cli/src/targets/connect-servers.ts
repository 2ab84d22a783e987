/**
 * Connects to servers. On a terminal, a line shows which servers are still connecting. This line is redrawn every
 * second.
 */

import { HostError } from "@fairlead/core/errors";
import type { ServerState } from "@fairlead/core/events";
import type { FailedStart, Host } from "@fairlead/core/host";
import { toShellWord, waitWords } from "@fairlead/core/plain-text";
import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { clip } from "@fairlead/wire/text";
import { cut, eraseLine } from "../output/reports/progress.ts";
import { isConnectSettled } from "../output/servers/server-state.ts";
import type { Context } from "../shell/verb.ts";

interface ConnectOptions {
  readonly onSettled?: (state: ServerState) => void;
  /**
   * The line that shows which servers are still connecting. A caller that prints in the meantime must hide this line
   * first.
   */
  readonly waiting?: WaitingLine;
}

/**
 * Connects to the servers. Resolves when each server is connected or has failed. The server's state says which.
 * @throws HostError `cancelled` on Ctrl-C
 */
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

interface WaitingLine {
  readonly started: (name: string) => void;
  /** Shows "downloading" instead of "connecting" for a server whose program may have to be downloaded first. */
  readonly downloads: (name: string) => void;
  readonly said: (name: string, line: string) => void;
  readonly settled: (name: string) => void;
  /** Hides the line until it is drawn again, so that other output can be written. */
  readonly hide: () => void;
  readonly end: () => void;
}

interface Waited {
  readonly since: number;
  readonly isDownload: boolean;
  readonly said: string;
}

const interval = 1000;
const mostNames = 3;
const longestSaying = 500;

/**
 * Creates the line that shows connecting servers. It stays invisible with `--quiet`, `--json` or without a terminal.
 */
export function createWaitingLine({ io: { stderr }, globals }: Pick<Context, "io" | "globals">): WaitingLine {
  const waited = new Map<string, Waited>();
  const isShown = stderr.isTTY === true && !globals.quiet && !globals.json;
  let isDrawn = false;

  function draw(): void {
    hide();
    if (waited.size === 0) return;
    stderr.write(cut(waitingWords(waited, performance.now()), stderr.columns));
    isDrawn = true;
  }

  function hide(): void {
    if (isDrawn) stderr.write(eraseLine);
    isDrawn = false;
  }

  function change(name: string, news: Partial<Waited>): void {
    const before = waited.get(name);
    if (before) waited.set(name, { ...before, ...news });
  }

  const timer = isShown ? setInterval(draw, interval) : undefined;
  return {
    started: (name) => void waited.set(name, { since: performance.now(), isDownload: false, said: "" }),
    downloads: (name) => change(name, { isDownload: true }),
    said: (name, line) => line.trim() !== "" && change(name, { said: clip(line.trim(), longestSaying) }),
    settled: (name) => void waited.delete(name),
    hide,
    end() {
      clearInterval(timer);
      hide();
    },
  };
}

/**
 * Returns the progress line: the servers that are connecting, in the order in which they started, then what a server
 * printed about a download.
 */
function waitingWords(waited: ReadonlyMap<string, Waited>, now: number): SafeText {
  const shown = [...waited].slice(0, mostNames);
  const names = shown.map(([name, { since, isDownload }]) => {
    const verb = isDownload ? safe`downloading` : safe`connecting`;
    return safe`${toSafeLine(name)}: ${verb} (${Math.round((now - since) / 1000)} s)`;
  });
  const left = waited.size - names.length;
  const { said = "" } = shown.find(([, { isDownload }]) => isDownload)?.[1] ?? {};
  return joinSafe(
    [
      joinSafe(names, safe`, `),
      left > 0 ? safe` and ${left} more` : safe``,
      said === "" ? safe`` : safe`  ${toSafeLine(said)}`,
    ],
    safe``,
  );
}

// The message about a server that Fairlead skips because it failed to start in an earlier run.

/** Returns an error that says when the server failed to start, why, and when Fairlead tries again. */
export function skippedError({ server, message, failedAt, nextTryAt }: FailedStart, now: number): HostError {
  const times = `tried ${waitWords(now - failedAt)} ago, again in ${waitWords(nextTryAt - now)}`;
  return new HostError("unreachable", `${message} (${times})`, {
    serverName: server,
    next: `to try the server now: fairlead mcp test ${toShellWord(server)}`,
  });
}
