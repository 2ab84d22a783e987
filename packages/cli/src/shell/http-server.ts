/** Options and life cycle of a command that listens for HTTP clients on the loopback address until Ctrl-C. */

import { HostError } from "@fairlead/core/errors";
import { type HttpListenerOptions, listenHttp } from "@fairlead/wire/serve";
import { errorMessage } from "@fairlead/wire/text";
import type { Command } from "commander";
import { type Context, usageError } from "./verb.ts";

/** Options of a command that can listen for HTTP clients. */
export interface ListenOptions {
  readonly http?: boolean;
  readonly port?: string;
}

/** Adds `--http` and `--port` to a command. */
export function defineHttpOptions(command: Command): void {
  command
    .option("--http", "listen for HTTP clients on the loopback address instead of using stdio")
    .option("--port <number>", "the port for --http; default: any free port");
}

/**
 * Listens until Ctrl-C. Prints `{"url","pid"}` when it is ready.
 * @throws HostError `usage` if the port is in use
 */
export async function serveHttp(
  { port }: ListenOptions,
  options: Omit<HttpListenerOptions, "port">,
  context: Context,
): Promise<void> {
  const listener = await orPortError(listenHttp({ ...options, port: toPort(port, context) }), port);
  await untilStopped(listener, context);
  await listener.close();
}

/** Explains why a port cannot be used. @throws HostError `usage` */
export function orPortError<T>(listening: Promise<T>, port = "0"): Promise<T> {
  return listening.catch((cause: unknown) => {
    const message = `cannot listen on port ${port}: ${errorMessage(cause)}`;
    throw new HostError("usage", message, { cause, next: "choose another --port" });
  });
}

/** Prints `{"url","pid"}`, and waits for Ctrl-C. */
export async function untilStopped({ url }: { readonly url: string }, { io }: Context): Promise<void> {
  io.stdout.write(`${JSON.stringify({ url, pid: process.pid })}\n`);
  await new Promise<void>((resolve) => {
    if (io.signal.aborted) resolve();
    else io.signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Checks that `--port` is given only with `--http`. @throws HostError `usage` */
export function checkHttpOptions({ http = false, port }: ListenOptions, context: Context): void {
  if (port !== undefined && !http) throw usageError("--port works only with --http", context);
}

/** Parses the value of `--port`. 0 means any free port. @throws HostError `usage` */
export function toPort(word = "0", context: Context): number {
  const port = Number(word);
  if (/^\d{1,5}$/.test(word) && port <= 65535) return port;
  throw usageError(`--port must be a number from 0 to 65535, not "${word}"`, context);
}
