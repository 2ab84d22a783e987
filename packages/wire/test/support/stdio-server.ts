/** Opens a stdio channel to a program and collects what comes out of it. */

import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { WireError } from "../../src/errors.ts";
import type { Channel, RpcMessage } from "../../src/rpc/channel.ts";
import type { ProcessRegistry } from "../../src/stdio/process-registry.ts";
import { openStdio } from "../../src/stdio/stdio.ts";
import { defaultLimits, defaultTimes, type StdioTarget, type WireLimits, type WireTimes } from "../../src/target.ts";

export interface ServerOptions {
  readonly limits?: Partial<WireLimits>;
  readonly times?: Partial<WireTimes>;
  readonly target?: Partial<StdioTarget>;
  readonly keeper?: ProcessRegistry;
  readonly signal?: AbortSignal;
  readonly onStderr?: (text: string) => void;
  readonly onMessage?: (message: RpcMessage) => void;
}

export interface OpenServer extends AsyncDisposable {
  readonly channel: Channel;
  readonly messages: RpcMessage[];
  readonly diagnostics: string[];
  /** How often the channel said that it is closed. */
  readonly closings: (WireError | undefined)[];
  readonly closed: Promise<WireError | undefined>;
  /** Resolves when so many messages have arrived; rejects when the channel closes before. */
  arrived(count: number): Promise<RpcMessage[]>;
}

/** Patient where a test waits for a server, short where it waits for the end of one. */
const times: WireTimes = { ...defaultTimes, endGrace: 1_000, termGrace: 200, killGrace: 5_000 };

/** A file of `programs/`, with arguments. */
export function program(name: string, ...args: string[]): StdioTarget {
  const file = fileURLToPath(new URL(`../programs/${name}`, import.meta.url));
  return { kind: "stdio", command: process.execPath, args: [file, ...args], env: { PATH: path() }, cwd: tmpdir() };
}

/** The launcher `programs/family.sh`. */
export function family(...how: string[]): StdioTarget {
  return { ...program("family.sh", ...how), command: "/bin/bash" };
}

/** A program of one line. */
export function script(code: string): StdioTarget {
  return { kind: "stdio", command: process.execPath, args: ["-e", code], env: { PATH: path() }, cwd: tmpdir() };
}

/** A line of a program: writes `text` to stdout. */
export const says = (text: string): string => `process.stdout.write(${JSON.stringify(text)});`;

/** A line of a program: stays until its stdin ends. */
export const stays = "process.stdin.resume();";

/** What `programs/family.sh` says. */
export function pidsOf(message: unknown): number[] {
  const { params } = message as { params: { pids: number[] } };
  return params.pids;
}

/** What a promise was rejected with. */
export async function failure(promise: Promise<unknown>): Promise<WireError> {
  const error = await promise.then(
    () => "did not fail",
    (reason: unknown) => reason,
  );
  if (error instanceof WireError) return error;
  throw new Error(`not a WireError: ${String(error)}`);
}

function path(): string {
  return process.env["PATH"] ?? "/usr/bin:/bin";
}

export async function openServer(target: StdioTarget, options: ServerOptions = {}): Promise<OpenServer> {
  const messages: RpcMessage[] = [];
  const diagnostics: string[] = [];
  const closings: (WireError | undefined)[] = [];
  const waiting = new Set<() => void>();
  let tellClosed: (cause: WireError | undefined) => void = () => undefined;
  const closed = new Promise<WireError | undefined>((resolve) => {
    tellClosed = resolve;
  });
  const wake = () => {
    for (const check of waiting) check();
  };

  const open = openStdio(
    { ...target, ...options.target },
    {
      limits: { ...defaultLimits, ...options.limits },
      times: { ...times, ...options.times },
      ...(options.keeper && { processes: options.keeper }),
      ...(options.onStderr && { onStderr: options.onStderr }),
    },
  );
  const channel = await open(
    {
      message(message) {
        messages.push(message);
        options.onMessage?.(message);
        wake();
        return undefined;
      },
      largest: () => defaultLimits.messageBytes,
      dropped: () => undefined,
      closed(cause) {
        closings.push(cause);
        tellClosed(cause);
        wake();
      },
      diagnostic: (text) => diagnostics.push(text),
    },
    options.signal ?? new AbortController().signal,
  );

  return {
    channel,
    messages,
    diagnostics,
    closings,
    closed,
    arrived: (count) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (messages.length >= count) resolve(messages);
          else if (closings.length > 0) reject(closings[0] ?? new Error("closed from here"));
          else return;
          waiting.delete(check);
        };
        waiting.add(check);
        check();
      }),
    [Symbol.asyncDispose]: () => channel.close(),
  };
}
