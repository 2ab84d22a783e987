/** A conversation with a server that is a child process: messages are lines on its stdin and stdout. */

import { StringDecoder } from "node:string_decoder";
import { WireError } from "../errors.ts";
import type { Channel, ChannelEvents, OpenChannel } from "../rpc/channel.ts";
import { createRing } from "../rpc/ring.ts";
import { uptime } from "../rpc/uptime.ts";
import { settledWithin } from "../rpc/within.ts";
import type { StdioTarget, WireLimits, WireTimes } from "../target.ts";
import { createLineSplitter } from "./lines.ts";
import { createMessageLines } from "./message-lines.ts";
import { createOutbox } from "./outbox.ts";
import { type Exit, type ServerProcess, startProcess } from "./process.ts";
import { createProcessRegistry, type ProcessRegistry } from "./process-registry.ts";
import { endTree } from "./process-tree.ts";

/** A pipe that gave nothing for so long after the exit is held open by something the server started. */
const quiet = 50;

export interface StdioOptions {
  readonly limits: WireLimits;
  readonly times: WireTimes;
  readonly onStderr?: ((text: string) => void) | undefined;
  /** Shared by the servers of a host; without one, this server gets its own. */
  readonly processes?: ProcessRegistry | undefined;
}

export function openStdio(target: StdioTarget, options: StdioOptions): OpenChannel {
  return async (events, signal) => {
    const isAborted = () => signal?.aborted;
    if (isAborted()) throw cancelled();
    const keeper = options.processes ?? createProcessRegistry();
    const server = await startProcess(target, keeper).catch(async (error: unknown) => {
      throw await whyNotStarted(target, error);
    });
    if (!isAborted()) return converse(server, target, events, options);
    await endTree(server, { ...options.times, endGrace: 0 });
    throw cancelled();
  };
}

function converse(server: ServerProcess, target: StdioTarget, events: ChannelEvents, options: StdioOptions): Channel {
  const { limits, times, onStderr } = options;
  const { stdin, stdout, stderr } = server;
  const { messageBytes, unsentBytes } = limits;
  const lastWords = createRing(limits.stderrBytes);
  const outbox = createOutbox(stdin, { messageBytes, unsentBytes, deadline: times.send });
  let received = 0;
  let over = false;
  let ending: Promise<void> | undefined;

  function conclude(cause: WireError | undefined): void {
    if (over) return;
    over = true;
    if (cause !== undefined) outbox.fail(cause);
    events.closed(cause);
  }

  /** Everybody who wants the end shares it; the first one's patience counts. */
  function end(patience: number): Promise<void> {
    ending ??= (async () => {
      outbox.end();
      const left = await endTree(server, { ...times, endGrace: patience });
      outbox.fail(new WireError("closed", "the conversation is over"));
      if (left.length > 0) events.diagnostic(`processes that could not be ended: ${left.join(", ")}`);
    })();
    return ending;
  }

  /** Nothing the server may still say is of interest. */
  function giveUp(cause: WireError): void {
    conclude(cause);
    stdout.destroy();
    void end(0);
  }

  /** One direction is closed. A server that is exiting closes its pipes first, and its exit says more. */
  async function hungUp(what: string): Promise<void> {
    if (over) return;
    outbox.end();
    if (await settledWithin(server.exited, times.endGrace)) return;
    conclude(new WireError("closed", `the server closed its ${what}`, { stderr: lastWords.text() }));
    void end(0);
  }

  async function exited(exit: Exit): Promise<void> {
    await drained();
    conclude(await exitError(exit, target, lastWords.text()));
    await end(0);
  }

  /** What was written before the exit still counts, but the pipes may stay open without end. */
  async function drained(): Promise<void> {
    const latest = uptime() + times.endGrace;
    let before: number;
    do {
      before = received;
      if (await settledWithin(server.finished, quiet)) return;
      // When the loop was busy, the timer comes before what arrived meanwhile.
      await new Promise((resolve) => setImmediate(resolve));
    } while (before !== received && uptime() < latest);
  }

  const lines = createLineSplitter({
    limit: messageBytes,
    line: createMessageLines({
      events: {
        message(message) {
          if (!over) events.message(message);
        },
        diagnostic: (text) => events.diagnostic(text),
      },
      hopeless: giveUp,
    }),
    tooLong: () => giveUp(tooLarge(messageBytes)),
  });
  stdout.on("data", (chunk: Buffer) => {
    received += chunk.length;
    if (!over) lines.push(chunk);
  });
  stdout.on("end", () => {
    if (!over) lines.end();
    void hungUp("stdout");
  });
  stdout.on("error", () => void hungUp("stdout"));
  stdin.on("error", () => void hungUp("stdin"));

  const decoder = onStderr && new StringDecoder("utf8");
  stderr.on("data", (chunk: Buffer) => {
    received += chunk.length;
    lastWords.push(chunk);
    if (decoder !== undefined) onStderr?.(decoder.write(chunk));
  });
  stderr.on("error", () => stderr.destroy());

  void server.exited.then(exited);

  return {
    cancelBy: "message",
    send: (message, { signal } = {}) => outbox.send(message, signal),
    setProtocolVersion() {
      // Nothing on this transport repeats the version.
    },
    close() {
      conclude(undefined);
      return end(times.endGrace);
    },
  };
}

function cancelled(): WireError {
  return new WireError("cancelled", "cancelled by the caller", { unsent: true });
}

function tooLarge(limit: number): WireError {
  return new WireError("too_large", `a message of the server is over the limit of ${limit} bytes (messageBytes)`);
}

/** Loaded when there is something to explain. */
async function whyNotStarted(target: StdioTarget, cause: unknown): Promise<WireError> {
  const { spawnFailure } = await import("./spawn-failure.ts");
  return spawnFailure(target, cause);
}

async function exitError({ code, signal, error }: Exit, target: StdioTarget, stderr: string): Promise<WireError> {
  if (error !== undefined) return whyNotStarted(target, error);
  if (signal !== null) return new WireError("exited", `the server was ended by ${signal}`, { signal, stderr });
  return new WireError("exited", `the server exited with code ${code ?? "unknown"}`, {
    ...(code !== null && { exitCode: code }),
    stderr,
  });
}
