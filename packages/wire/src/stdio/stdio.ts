/** The stdio transport. The server is a child process, and messages are lines on its stdin and stdout. */

import { StringDecoder } from "node:string_decoder";
import { WireError } from "../errors.ts";
import type { Channel, ChannelEvents, OpenChannel } from "../rpc/channel.ts";
import { createReadBudget } from "../rpc/read-budget.ts";
import { settledWithin, uptime } from "../rpc/time.ts";
import { memoryFor } from "../shapes/json-memory.ts";
import { immediateTurn } from "../shapes/sliced-json.ts";
import { errorMessage } from "../shapes/text.ts";
import type { ConnectOptions, StdioTarget, WireLimits, WireTimes } from "../target.ts";
import { createLineSplitter } from "./lines.ts";
import { createMessageLines } from "./message-lines.ts";
import { createOutbox } from "./outbox.ts";
import { type Exit, type ServerProcess, startProcess } from "./process.ts";
import { createProcessRegistry } from "./process-registry.ts";
import { endTree } from "./process-tree.ts";
import { createRing } from "./ring.ts";

/** After the server has exited, reading ends when nothing has arrived for this many milliseconds. */
const quiet = 50;

/** Limits and times of one stdio server, and what to do with its stderr. Default: a new process registry. */
export interface StdioOptions extends Pick<ConnectOptions, "onStderr" | "processes" | "time" | "largeMessages"> {
  readonly limits: WireLimits;
  readonly times: WireTimes;
}

/** Returns the function that starts the server and opens its channel. */
export function openStdio(target: StdioTarget, options: StdioOptions): OpenChannel {
  return async (events, signal) => {
    const isAborted = () => signal?.aborted;
    if (isAborted()) throw cancelled();
    const processes = options.processes ?? createProcessRegistry();
    const server = await startProcess(target, processes).catch(async (error: unknown) => {
      throw await whyNotStarted(target, error);
    });
    if (!isAborted()) return openChannel(server, target, events, options);
    await endTree(server, { ...options.times, endGrace: 0 });
    throw cancelled();
  };
}

function openChannel(
  server: ServerProcess,
  target: StdioTarget,
  events: ChannelEvents,
  options: StdioOptions,
): Channel {
  const { limits, times, onStderr, time, largeMessages } = options;
  const { stdin, stdout, stderr } = server;
  const { messageBytes, unsentBytes } = limits;
  const stderrTail = createRing(limits.stderrBytes);
  const outbox = createOutbox(stdin, { messageBytes, unsentBytes, deadline: times.send });
  let received = 0;
  let over = false;
  let ending: Promise<void> | undefined;
  /** Set while a long line is parsed in steps, or while it waits for other large messages. Nothing is read meanwhile. */
  let busy: Promise<void> | undefined;
  let isPaused = false;

  const budget = createReadBudget({ limits, times, time, largeMessages, onFlooding: giveUp });
  const message = budget.largeMessages.begin();

  function reportClosed(cause: WireError | undefined): void {
    if (over) return;
    over = true;
    budget.stop();
    message.release();
    if (cause !== undefined) outbox.fail(cause);
    events.closed(cause);
  }

  /** Ends the process. A later call waits for the first, and its `endGrace` has no effect. */
  function end(endGrace: number): Promise<void> {
    ending ??= (async () => {
      outbox.end();
      const left = await endTree(server, { ...times, endGrace });
      outbox.fail(new WireError("closed", "the connection is closed"));
      if (left.length > 0) events.diagnostic(`could not end the processes ${left.join(", ")}`);
    })();
    return ending;
  }

  /** Ends the connection without reading any further output. */
  function giveUp(cause: WireError): void {
    reportClosed(cause);
    stdout.destroy();
    stderr.destroy();
    void end(0);
  }

  /** Waits for the server's exit, because an error with the exit code is more helpful than "closed its stdout". */
  async function pipeClosed(what: string): Promise<void> {
    if (over) return;
    outbox.end();
    if (await settledWithin(server.exited, times.endGrace)) return;
    reportClosed(new WireError("closed", `the server closed its ${what}`, { stderr: stderrTail.text() }));
    void end(0);
  }

  async function exited(exit: Exit): Promise<void> {
    await readRemaining();
    reportClosed(await exitError(exit, target, stderrTail.text()));
    await end(0);
  }

  /**
   * Reads the output that the server wrote before its exit. The time is limited, because child processes may keep the
   * pipes open. While a long line is parsed or waits, nothing is read, so that time does not count.
   */
  async function readRemaining(): Promise<void> {
    let latest = uptime() + times.endGrace;
    let isQuiet: boolean;
    do {
      const before = received;
      const wasPaused = isPaused;
      // If the pipes are closed, no more output can come, so the rest needs no rate limit.
      if (await settledWithin(server.finished, quiet)) budget.stop();
      // If the event loop was busy, output may have arrived that Node has not read yet.
      await immediateTurn();
      const begin = uptime();
      await busy;
      latest += uptime() - begin;
      isQuiet = before === received && !wasPaused && !isPaused && !budget.isWaiting();
    } while (!isQuiet && uptime() < latest);
  }

  const messages = createMessageLines({
    events: {
      message: (message, size) => (over ? undefined : events.message(message, size)),
      diagnostic: (text) => events.diagnostic(text),
      dropped: (start, cause) => (over ? undefined : events.dropped(start, cause)),
    },
    budget,
    notAServer: giveUp,
  });

  /** Rejects if the connection has closed, which stops the parsing of a message. */
  async function nextTurn(): Promise<void> {
    await immediateTurn();
    if (over) throw new WireError("closed", "the connection is closed");
  }

  const lines = createLineSplitter({
    limit: messageBytes,
    line: messages.take,
    slicedLine(pieces) {
      stayBusy(
        messages
          .takeInSlices(pieces, { nextTurn, maxMemory: memoryFor(events.largest()) })
          .catch((error: unknown) => events.diagnostic(`a message could not be read: ${errorMessage(error)}`))
          .finally(() => message.release()),
      );
    },
    tooLong: () => giveUp(tooLarge(messageBytes)),
    limitNow: () => events.largest(),
    dropped(start, bytes) {
      budget.unsolicited("notifications", bytes, 1);
      if (!over) events.dropped(start);
    },
    isBusy: () => budget.isSpent() || busy !== undefined,
  });
  stdout.on("data", (chunk: Buffer) => {
    received += chunk.length;
    budget.bytes(chunk.length);
    if (!over) take(chunk);
    // When a process exits, Node resumes its stdout even if reading is paused.
    if (isPaused) stdout.pause();
    else if (budget.isSpent() || busy !== undefined) pauseStdout();
  });

  function take(chunk: Buffer): void {
    lines.push(chunk);
    holdLine();
  }

  /** Counts the incomplete line. If it is large, reading may have to wait for large messages of others. */
  function holdLine(): void {
    // While a line is parsed, its bytes are still held, and the bytes after it wait.
    if (over || busy !== undefined) return;
    message.hold(lines.held());
    const turn = message.turn();
    if (turn !== undefined) stayBusy(turn);
  }

  function stayBusy(until: Promise<void>): void {
    busy = until.then(() => {
      busy = undefined;
    });
  }

  /** Reading goes on when `busy` has ended and the read budget allows more output. */
  function pauseStdout(): void {
    isPaused = true;
    stdout.pause();
    if (busy === undefined) resumeStdout();
    else void busy.then(resumeStdout);
  }

  function resumeStdout(): void {
    budget.whenRefilled(() => {
      if (!over && !resumeLines()) return pauseStdout();
      isPaused = false;
      if (stdout.readableEnded) stdoutEnded();
      else stdout.resume();
    });
  }

  /** Returns false if lines still wait, or if the rest of a large line has to. */
  function resumeLines(): boolean {
    const isDone = lines.resume();
    holdLine();
    return isDone && busy === undefined;
  }

  function stdoutEnded(): void {
    if (!over) lines.end();
    void pipeClosed("stdout");
  }

  // If reading is paused, `resumeStdout` first delivers the waiting lines, and then handles the end.
  stdout.on("end", () => {
    if (!isPaused) stdoutEnded();
  });
  stdout.on("error", () => void pipeClosed("stdout"));
  stdin.on("error", () => void pipeClosed("stdin"));

  const decoder = onStderr && new StringDecoder("utf8");
  stderr.on("data", (chunk: Buffer) => {
    received += chunk.length;
    stderrTail.push(chunk);
    if (decoder !== undefined) onStderr?.(decoder.write(chunk));
    budget.bytes(chunk.length);
    budget.unsolicited("stderr", chunk.length);
    if (!budget.isSpent()) return;
    stderr.pause();
    budget.whenRefilled(() => stderr.resume());
  });
  stderr.on("error", () => stderr.destroy());

  void server.exited.then(exited);

  return {
    cancelBy: "message",
    send: (message, { signal } = {}) => outbox.send(message, signal),
    setProtocolVersion() {
      // Stdio has no headers, so the version is not needed.
    },
    close() {
      reportClosed(undefined);
      return end(times.endGrace);
    },
  };
}

function cancelled(): WireError {
  return new WireError("cancelled", "cancelled by the caller", { unsent: true });
}

function tooLarge(limit: number): WireError {
  return new WireError("too_large", `a message from the server is larger than ${limit} bytes (messageBytes)`);
}

async function whyNotStarted(target: StdioTarget, cause: unknown): Promise<WireError> {
  const { spawnFailure } = await import("./spawn-failure.ts");
  return spawnFailure(target, cause);
}

async function exitError({ code, signal, error }: Exit, target: StdioTarget, stderr: string): Promise<WireError> {
  if (error !== undefined) return whyNotStarted(target, error);
  if (signal !== null) return new WireError("exited", `the server was ended by ${signal}`, { signal, stderr });
  return new WireError("exited", `the server exited with code ${code ?? "unknown"}`, {
    exitCode: code ?? undefined,
    stderr,
  });
}
