/** Decides how long connecting to a server may take. */

import { setMaxListeners } from "node:events";
import { type Clock, systemClock } from "../clock.ts";
import type { ServerDefinition, StdioTransport, Transport } from "../settings/define/definition.ts";
import type { ConnectTimeout } from "./connect-step.ts";

/** Programs that may have to download the server before they start it. */
const launchers: ReadonlySet<string> = new Set("npx bunx pnpx uvx pipx docker podman nerdctl".split(" "));
const launcherVerbs: ReadonlySet<string> = new Set([
  "npm exec",
  "npm x",
  "pnpm dlx",
  "yarn dlx",
  "bun x",
  "uv run",
  "uv tool",
  "deno run",
]);
const fetchingFactor = 4;

/**
 * How long connecting may take: the shorter of the server's `timeout` and `fairlead.connectTimeout`. If a launcher such
 * as `npx` starts the server for the first time, `fairlead.connectTimeout` is multiplied by four.
 *
 * @param connectTimeout The setting `fairlead.connectTimeout`, in milliseconds.
 * @param isFirstRun True if Fairlead has never connected to a server with this definition.
 */
export function connectTimeoutFor(
  { timeout }: Pick<ServerDefinition, "timeout">,
  transport: Transport,
  connectTimeout: number,
  isFirstRun: boolean,
): ConnectTimeout {
  const allowed = isFirstRun && isLaunched(transport) ? connectTimeout * fetchingFactor : connectTimeout;
  return timeout < allowed
    ? { milliseconds: timeout, setting: "timeout" }
    : { milliseconds: allowed, setting: "fairlead.connectTimeout" };
}

/** Whether the command is a launcher such as `npx`, which downloads the server if necessary. */
export function isLaunched(transport: Transport): boolean {
  return transport.kind === "stdio" && launcherOf(transport) !== undefined;
}

/** Returns the launcher, such as `npx` or `npm exec`; undefined if the command is none. */
export function launcherOf(transport: Pick<StdioTransport, "command" | "args">): string | undefined {
  const words = [transport.command, ...transport.args];
  // On Windows launchers are usually started as `cmd /c npx …`.
  if (programName(words[0]) === "cmd" && /^\/c$/i.test(words[1] ?? "")) words.splice(0, 2);
  const name = programName(words[0]);
  const verb = `${name} ${words[1] ?? ""}`;
  return launchers.has(name) ? name : launcherVerbs.has(verb) ? verb : undefined;
}

function programName(command = ""): string {
  const name = command.split(/[/\\]/).at(-1) ?? "";
  return name.toLowerCase().replace(/\.(cmd|exe|bat|ps1)$/, "");
}

/** The deadline of a connection attempt. */
export interface Deadline {
  readonly signal: AbortSignal;
  start(): void;
  /** Whether the timeout was reached before the caller aborted the attempt. */
  isOver(): boolean;
  stop(): void;
}

/** Creates a deadline that aborts its signal `milliseconds` after `start`. */
export function createDeadline(caller: AbortSignal, milliseconds: number, clock: Clock = systemClock): Deadline {
  const ended = new AbortController();
  const stopFollowing = followAbort(ended, caller);
  let isLate = false;
  let cancelTimer = (): void => {};
  return {
    signal: ended.signal,
    start() {
      cancelTimer = clock.after(milliseconds, () => {
        isLate = true;
        ended.abort();
      });
    },
    isOver: () => isLate && !caller.aborted,
    stop() {
      stopFollowing();
      cancelTimer();
    },
  };
}

/**
 * Aborts the controller when the caller's signal aborts. Returns a function that ends this. Several times as fast as
 * `AbortSignal.any`.
 */
export function followAbort(controller: AbortController, caller: AbortSignal | undefined): () => void {
  if (caller === undefined) return () => {};
  const abort = (): void => controller.abort(caller.reason);
  // Allows any number of listeners, because many connections may share one signal.
  setMaxListeners(0, caller);
  if (caller.aborted) abort();
  else caller.addEventListener("abort", abort, { once: true });
  return () => caller.removeEventListener("abort", abort);
}
