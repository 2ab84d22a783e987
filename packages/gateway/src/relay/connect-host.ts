/** Connects to the background host. The relay and the host each send a first line (a greeting). */

import { connect, type Socket } from "node:net";
import { type Hello, type RelayRefusal, speechNumber, type Welcome } from "./speech.ts";

export interface HostConnection {
  readonly socket: Socket;
  readonly welcome: Extract<Welcome, { readonly pid: number }>;
  /** Bytes that the host sent after its first line. */
  readonly rest: Buffer;
}

/** The outcome of a connection attempt. `absent`: no host listens on the socket. */
export type Reached =
  | { readonly kind: "open"; readonly connection: HostConnection }
  | { readonly kind: "absent" }
  | { readonly kind: "refused"; readonly reason: RelayRefusal | "silent"; readonly message: string };

/** Milliseconds to connect and to receive the host's first line. */
const answerTime = 15_000;
/** With these error codes, no host listens, or the host has ended before its first line. */
const absentCodes: ReadonlySet<unknown> = new Set(["ENOENT", "ECONNREFUSED", "ECONNRESET", "EPIPE"]);
/** Maximum length of a host's first line, in bytes. */
const lineBytes = 1024 * 1024;

/**
 * Connects to the host and sends the relay's first line. Never rejects.
 * @param waitTime Milliseconds to wait for the host's first line. Default: 15 seconds.
 */
export function connectHost(
  path: string,
  hello: Omit<Hello, "fairlead">,
  waitTime: number = answerTime,
): Promise<Reached> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(
      () => end({ kind: "refused", reason: "silent", message: `no answer within ${waitTime} ms` }),
      waitTime,
    );

    function end(reached: Reached): void {
      clearTimeout(timer);
      socket.off("data", onData).off("close", onClose);
      if (reached.kind === "open") socket.off("error", onError);
      else socket.destroy();
      resolve(reached);
    }

    function onError(error: NodeJS.ErrnoException): void {
      end(
        absentCodes.has(error.code)
          ? { kind: "absent" }
          : { kind: "refused", reason: "silent", message: error.message },
      );
    }

    /** The host has ended before its first line. */
    function onClose(): void {
      end({ kind: "absent" });
    }

    function onData(chunk: Buffer): void {
      chunks.push(chunk);
      size += chunk.length;
      const at = chunk.indexOf(0x0a);
      if (at === -1 && size < lineBytes) return;
      socket.pause();
      const all = Buffer.concat(chunks);
      const length = size - chunk.length + at + 1;
      end(toReached(socket, readWelcome(all.toString("utf8", 0, length)), all.subarray(length)));
    }

    socket.on("error", onError).on("close", onClose).on("data", onData);
    socket.write(`${JSON.stringify({ fairlead: speechNumber, ...hello })}\n`);
  });
}

function toReached(socket: Socket, welcome: Welcome | undefined, rest: Buffer): Reached {
  if (welcome === undefined)
    return { kind: "refused", reason: "speech", message: "the host answered with an invalid line" };
  if ("refused" in welcome) return { kind: "refused", reason: welcome.refused, message: welcome.message };
  return { kind: "open", connection: { socket, welcome, rest } };
}

function readWelcome(line: string): Welcome | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null || !("fairlead" in value)) return undefined;
    // Fairlead's own host has written this line, so the other members need no check.
    return value as Welcome;
  } catch {
    return undefined;
  }
}
