/**
 * The relay between one stdio client and the background host. If the host is lost, the client stays connected, and no
 * tool call runs twice.
 */

import type { Readable, Writable } from "node:stream";
import { isObject, listOf, member, parseJson } from "@fairlead/wire/json";
import { errorMessage } from "@fairlead/wire/text";
import { ClientState, isReplayed, readMessage } from "./client-state.ts";
import type { HostConnection } from "./connect-host.ts";
import { createLineFrames } from "./line-frames.ts";
import { type UnansweredRequest, UnansweredRequests } from "./open-requests.ts";
import { Questions } from "./questions.ts";
import { scanHostLine, scanMessage } from "./scan-message.ts";
import { takeSentFile } from "./sent-file.ts";
import { type RelayName, readNote } from "./speech.ts";

/** The client's streams, and how the relay reaches hosts. */
export interface ClientRelayOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** The connection to the first host. */
  readonly first: HostConnection;
  /** Connects to a new host after a host was lost. Starts a host if none runs. `names`: what the client has seen. */
  readonly reach: (names: readonly RelayName[]) => Promise<HostConnection>;
  /** Aborting ends the relay at once. The host then cancels the client's open requests. */
  readonly signal?: AbortSignal;
  /** Reports a problem to the user, not to the client. */
  readonly onProblem: (message: string) => void;
}

/** Maximum length of a message, in bytes. */
const messageBytes = 64 * 1024 * 1024;
/**
 * After so many hosts have stopped without an answer, the relay connects to a new host only for a request of the
 * client.
 */
const mostLosses = 3;
const openBrace = 0x7b;
const openBracket = 0x5b;
const newline = Buffer.from("\n");
const lineFeed = 0x0a;

/** Passes messages on until the client closes its input and has all its responses. */
export function runRelay({ input, output, first, reach, onProblem, signal }: ClientRelayOptions): Promise<void> {
  const open = new UnansweredRequests();
  const state = new ClientState();
  const questions = new Questions();
  const fromClient = createLineFrames(messageBytes, () => end());
  /**
   * Data that is passed on and parsed later. Used only with the first host, because the relay changes request ids of
   * later hosts.
   */
  const passed = createPassedChunks();
  /** The host that gets the client's lines. Undefined until a new host has answered `initialize`. */
  let ready: HostConnection["socket"] | undefined;
  let attached: HostConnection["socket"] | undefined;
  let isReaching = false;
  /** Whether the client has closed its input. Responses may still follow. */
  let isInputEnded = false;
  let isEnded = false;
  let losses = 0;
  let onEnd: () => void = () => {};

  function toClient(bytes: Buffer | string): void {
    if (!isEnded && !output.write(bytes)) attached?.pause();
  }

  function failOpen(message: string, next: string | undefined): void {
    onProblem(message);
    for (const { id } of open.takeAll()) toClient(errorLine(id, message, { reason: "unreachable", next }));
    endIfAnswered();
  }

  function reachHost(): void {
    if (isReaching || attached !== undefined || isEnded || (isInputEnded && !open.awaitsResponse())) return;
    isReaching = true;
    reach(state.names()).then(
      (connection) => {
        isReaching = false;
        if (isEnded) connection.socket.destroy();
        else attach(connection);
      },
      (error: unknown) => {
        isReaching = false;
        failOpen(errorMessage(error), "fairlead daemon logs");
      },
    );
  }

  function attach({ socket, rest, welcome }: HostConnection): void {
    const frames = createLineFrames(messageBytes, () => socket.destroy());
    const isFirst = questions.begin();
    const greeting = state.greeting();
    /** Whether the host has said that it ends or cannot serve this client. */
    let isLeaving = false;
    /** Whether the host has sent a request to a server. */
    let hasSent = false;
    attached = socket;

    /** Sends a new host what it must know, and then the open requests. */
    function takeOver(): void {
      ready = socket;
      for (const each of state.afterGreeting()) socket.write(typeof each === "string" ? each : each.line);
      for (const { line } of open.all()) socket.write(line);
      // Lists may have changed while there was no host.
      if (!isFirst) for (const list of state.announcedLists()) toClient(listChangedLine(list));
      input.resume();
    }

    function takeNote(line: Buffer): undefined {
      const note = readNote(line.toString("utf8"));
      if (note?.kind === "sent") {
        hasSent = true;
        open.noteSent(new Map([[note.id, note.subject]]));
      } else if (note?.kind === "names") state.seen(note.names);
      else if (note !== undefined) isLeaving = true;
      if (note?.kind === "failed") failOpen(note.message, note.next);
    }

    function take(line: Buffer): Buffer | undefined {
      if (line[0] !== openBrace) return takeNote(line);
      const scanned = scanHostLine(line);
      if (scanned?.id === undefined) return line;
      const { id, method } = scanned;
      if (method !== undefined) {
        if (!isInputEnded) return questions.ask(id, line);
        socket.write(unansweredLine(id));
        return undefined;
      }
      if (isReplayed(id)) {
        if (id === greeting?.id) takeOver();
        return undefined;
      }
      const request = open.remove(id);
      if (request?.method === "initialize") state.greeted(line);
      losses = 0;
      open.forgive();
      return line;
    }

    function onLost(): void {
      passed.readAll();
      ready = undefined;
      attached = undefined;
      if (welcome.sentFile !== undefined) open.noteSent(takeSentFile(welcome.sentFile, hasSent));
      for (const id of questions.takeOpen()) toClient(cancelledLine(id));
      for (const request of open.takeLost()) toClient(lostLine(request));
      input.resume();
      losses += 1;
      endIfAnswered();
      if (open.size > 0 || (!isLeaving && losses < mostLosses)) reachHost();
    }

    const read = (chunk: Buffer): void => void frames.push(chunk, take);
    const onData = (chunk: Buffer): void => {
      if (isFirst && !isInputEnded && frames.isWhole(chunk) && hasOnlyMessages(chunk)) {
        passed.add(chunk, read);
        toClient(chunk);
        return;
      }
      passed.readAll();
      for (const bytes of frames.push(chunk, take)) toClient(bytes);
      endIfAnswered();
    };
    socket
      .on("data", onData)
      .on("drain", () => input.resume())
      .on("error", () => {})
      .on("close", onLost);
    if (greeting === undefined) takeOver();
    else socket.write(greeting.line);
    if (rest.length > 0) onData(rest);
    socket.resume();
  }

  /** Returns what the host gets for a line of the client, or undefined for nothing. */
  function takeClientLine(line: Buffer): Buffer | undefined {
    const scanned = scanMessage(line);
    if (scanned === undefined) return line[0] === openBracket ? takeBatch(line) : ready && line;
    const { id, method } = scanned;
    if (method === undefined) return id === undefined ? ready && line : questions.answer(id, line);
    state.note(method, line);
    if (id !== undefined) {
      open.add(id, method, line);
      if (ready === undefined) reachHost();
    } else if (method === "notifications/cancelled") {
      const requestId = cancelledId(line);
      if (requestId !== undefined) open.remove(requestId);
    }
    // Without a host, the line is dropped here. `takeOver` sends a new host what it needs.
    return ready && line;
  }

  function takeBatch(line: Buffer): Buffer | undefined {
    const taken = ofBatch(line).flatMap((each) => takeClientLine(each) ?? []);
    return taken.length === 0 ? undefined : Buffer.concat(taken);
  }

  const readInput = (chunk: Buffer): void => void fromClient.push(chunk, takeClientLine);
  const onInput = (chunk: Buffer): void => {
    if (ready !== undefined && questions.isFirstHost() && fromClient.isWhole(chunk)) {
      passed.add(chunk, readInput);
      if (!ready.write(chunk)) input.pause();
      return;
    }
    passed.readAll();
    const lines = fromClient.push(chunk, takeClientLine);
    const socket = ready;
    if (socket === undefined || lines.length === 0) return;
    if (lines.length > 1) socket.cork();
    let isTaken = true;
    for (const line of lines) isTaken = socket.write(line);
    if (lines.length > 1) socket.uncork();
    if (!isTaken) input.pause();
  };

  function onInputEnd(): void {
    if (isInputEnded || isEnded) return;
    // A script's last line may have no newline.
    if (!fromClient.isWhole(newline)) onInput(newline);
    // The client's last answers must be read first. Otherwise the host would get an error for an answered request.
    passed.readAll();
    isInputEnded = true;
    for (const id of questions.takeUnanswered()) attached?.write(unansweredLine(id));
    endIfAnswered();
  }

  function endIfAnswered(): void {
    if (isInputEnded && !isEnded && !open.awaitsResponse()) output.write("", end);
  }

  function end(): void {
    if (isEnded) return;
    isEnded = true;
    input.off("data", onInput).off("end", onInputEnd).off("error", end).off("close", onInputEnd);
    output.off("close", end);
    signal?.removeEventListener("abort", end);
    input.pause();
    // The host then cancels the client's open requests.
    attached?.removeAllListeners("close").end();
    onEnd();
  }

  output
    .on("drain", () => attached?.resume())
    .on("error", end)
    .on("close", end);
  input.on("data", onInput).on("end", onInputEnd).on("error", end).on("close", onInputEnd);
  signal?.addEventListener("abort", end);
  attach(first);
  return new Promise((resolve) => {
    onEnd = resolve;
  });
}

/** Returns the id of the cancelled request, as JSON text. */
function cancelledId(line: Buffer): string | undefined {
  const requestId = member(member(readMessage(line), "params"), "requestId");
  return requestId === undefined ? undefined : JSON.stringify(requestId);
}

/** Chunks that wait to be parsed. */
interface PassedChunks {
  /** Adds a chunk. Calls `read` with it later, or now if much data is waiting. */
  add(chunk: Buffer, read: (chunk: Buffer) => void): void;
  /** Calls `read` for all waiting chunks, oldest first. */
  readAll(): void;
}

/** Maximum number of waiting chunks. */
const mostChunks = 128;
const mostBytes = 256 * 1024;

/** Creates an empty list of chunks. */
export function createPassedChunks(): PassedChunks {
  let waiting: { readonly chunk: Buffer; readonly read: (chunk: Buffer) => void }[] = [];
  let bytes = 0;

  function readAll(): void {
    if (waiting.length === 0) return;
    const chunks = waiting;
    waiting = [];
    bytes = 0;
    for (const { chunk, read } of chunks) read(chunk);
  }

  return {
    add(chunk, read) {
      waiting.push({ chunk, read });
      bytes += chunk.length;
      if (waiting.length >= mostChunks || bytes >= mostBytes) readAll();
    },
    readAll,
  };
}

/** Whether every line begins like an MCP message. The host also sends lines that are only for the relay. */
export function hasOnlyMessages(chunk: Buffer): boolean {
  let start = 0;
  while (start < chunk.length) {
    if (chunk[start] !== openBrace) return false;
    const end = chunk.indexOf(lineFeed, start);
    if (end === -1) return true;
    start = end + 1;
  }
  return true;
}

const internalError = -32603;

/**
 * Returns a JSON-RPC error response.
 * @param id The request id as JSON text.
 */
export function errorLine(id: string, message: string, data: Readonly<Record<string, unknown>>): string {
  const error = JSON.stringify({ code: internalError, message, data });
  return `{"jsonrpc":"2.0","id":${id},"error":${error}}\n`;
}

/**
 * Returns the error for the host if the client can no longer answer its request.
 * @param id The id of the host's request, as JSON text.
 */
function unansweredLine(id: string): string {
  return errorLine(id, "the client has closed stdin and cannot answer", { reason: "unreachable" });
}

/** Returns the error for the client if a request was lost with its host and is not repeated. */
export function lostLine({ id, sent, losses }: UnansweredRequest): string {
  if (sent !== undefined)
    return errorLine(id, `the gateway was restarted; ${sent} may have run`, { reason: "lost", subject: sent });
  return errorLine(
    id,
    `the gateway stopped ${losses} times while it handled this request; no server received the request`,
    { reason: "unreachable", next: "fairlead daemon logs" },
  );
}

/**
 * Returns the notification that tells the client not to answer the host's request any more.
 * @param id The id of the request, as JSON text.
 */
export function cancelledLine(id: string): string {
  const requestId: unknown = JSON.parse(id);
  return notification("notifications/cancelled", { requestId, reason: "the gateway was restarted" });
}

/** Returns the `list_changed` notification for a list such as `tools`. */
export function listChangedLine(list: string): string {
  return notification(`notifications/${list}/list_changed`);
}

function notification(method: string, params?: object): string {
  return `${JSON.stringify({ jsonrpc: "2.0", method, params })}\n`;
}

/** Maximum number of messages in a JSON-RPC batch. MCP has had no batches since version 2025-06-18. */
const batchLimit = 100;

/** Returns the messages of a batch, each as a line. Returns an empty list if `line` is no batch. */
export function ofBatch(line: Buffer): readonly Buffer[] {
  // Drops a list inside the batch, because it would be read as another batch.
  return listOf(parseJson(line.toString("utf8")))
    .slice(0, batchLimit)
    .filter(isObject)
    .map((value) => Buffer.from(`${JSON.stringify(value)}\n`));
}
