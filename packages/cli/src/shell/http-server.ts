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
  const { signal, stdout } = context.io;
  const listener = await listenHttp({ ...options, port: toPort(port, context) }).catch((cause: unknown) => {
    const message = `cannot listen on port ${port ?? "0"}: ${errorMessage(cause)}`;
    throw new HostError("usage", message, { cause, next: "choose another --port" });
  });
  stdout.write(`${JSON.stringify({ url: listener.url, pid: process.pid })}\n`);
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await listener.close();
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
