/**
 * The messages between the host and its servers. The stream has only their heads; the messages themselves stay here,
 * within a number of bytes, until the page asks for one.
 */

import type { Clock } from "@fairlead/core/clock";
import { safeFileName, type TappedConnection, type TappedMessage } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import type { OpenedHost } from "@fairlead/core/host";
import { writeJson } from "@fairlead/core/plain-text";
import { headerLine } from "@fairlead/core/recordings";
import type { JsonObject, Progress } from "@fairlead/wire";
import { isObject, objectOf, parseObject, stringOf } from "@fairlead/wire/json";
import type { FrameHead } from "../../protocol/rows.ts";
import type { TrafficCommands } from "../../protocol/traffic.ts";
import { masked } from "./masked.ts";
import { aCount, aText, type Handlers, optional } from "./parameters.ts";

/** The limits of what is kept. */
export interface TrafficLimits {
  readonly bytes: number;
  readonly frames: number;
}

const usualLimits: TrafficLimits = { bytes: 32 * 1024 * 1024, frames: 20_000 };
/** Milliseconds in which frames are collected for one event. */
const pause = 100;
/** Frames of one event. In a flood, the page reads the others with `traffic/list`. */
const mostInEvent = 500;
const usualListed = 1000;
const mostListed = 5000;
/** Requests of one connection that wait for their responses. */
const mostOpen = 4096;
const longestId = 100;
const longestMethod = 200;
const longestTarget = 200;

interface Frame {
  readonly head: FrameHead;
  readonly connection: TappedConnection;
  /** The message as JSON, with its secrets. Absent for a message that is larger than all that is kept. */
  readonly message: Buffer | undefined;
  /** The method of the request that a response answers. */
  readonly asked: string | undefined;
  /** Milliseconds since the first message of the connection. */
  readonly since: number;
}

/** A request without its response. */
interface OpenRequest {
  readonly frame: number;
  readonly at: number;
  readonly method: string | undefined;
  readonly target: string | undefined;
  readonly call: string | undefined;
}

interface ConnectionState {
  readonly id: string;
  /** When the first message was seen, by the clock. */
  readonly began: number;
  /** By direction and JSON-RPC id. */
  readonly open: Map<string, OpenRequest>;
}

interface TrafficOptions {
  readonly host: OpenedHost;
  readonly clock: Clock;
  /** The current time, in milliseconds since 1970. */
  readonly now: () => number;
  readonly emit: (event: { readonly type: "frames"; readonly frames: readonly FrameHead[] }) => void;
  /** The call whose request is sent with this signal. */
  readonly callOf: (signal: AbortSignal) => string | undefined;
  readonly onProgress: (call: string, progress: Progress) => void;
  readonly limits?: TrafficLimits;
}

/** All messages, latest last. */
export class Traffic implements Disposable {
  readonly #options: TrafficOptions;
  readonly #limits: TrafficLimits;
  /** By the head's id. A map keeps the order, and removes its oldest entry cheaply. */
  readonly #frames = new Map<number, Frame>();
  readonly #connections = new WeakMap<TappedConnection, ConnectionState>();
  readonly #stop: () => void;
  #count = 0;
  #connectionCount = 0;
  #bytes = 0;
  #batch: FrameHead[] = [];
  #callOff: (() => void) | undefined;

  constructor(options: TrafficOptions) {
    this.#options = options;
    this.#limits = options.limits ?? usualLimits;
    this.#stop = options.host.messages.on((message) => this.#take(message));
  }

  /** How many bytes and messages are kept. */
  get kept(): TrafficLimits {
    return { bytes: this.#bytes, frames: this.#frames.size };
  }

  [Symbol.dispose](): void {
    this.#stop();
    this.#callOff?.();
    this.#frames.clear();
  }

  readonly handlers: Handlers<TrafficCommands> = {
    "traffic/list": {
      takes: { before: optional(aCount(Number.MAX_SAFE_INTEGER)), limit: optional(aCount(mostListed)) },
      run: ({ before = Number.POSITIVE_INFINITY, limit = usualListed }) => {
        const heads = [...this.#frames.values()].map(({ head }) => head);
        const earlier = heads.filter(({ id }) => id < before);
        return { frames: earlier.slice(-limit), oldest: heads[0]?.id };
      },
    },
    "traffic/body": {
      isHidden: true,
      takes: { id: aCount(Number.MAX_SAFE_INTEGER) },
      run: ({ id }) => {
        const frame = this.#frames.get(id);
        return { text: frame && writtenOf(frame) };
      },
    },
    "traffic/export": {
      isHidden: true,
      takes: { server: aText },
      run: ({ server }) => ({ file: `${safeFileName(server)}.jsonl`, text: this.#recordingOf(server) }),
    },
  };

  #take({ connection, direction, message, signal }: TappedMessage): void {
    const { clock, now } = this.#options;
    const text = Buffer.from(writeJson(message));
    const state = this.#stateOf(connection);
    const { method, id, error } = message;
    const at = clock.now();
    const isOut = direction === "sent";
    this.#count += 1;
    const number = this.#count;
    const answered = method === undefined ? takeOpen(state, isOut ? "in" : "out", id) : undefined;
    const call = answered?.call ?? (signal && this.#options.callOf(signal)) ?? this.#noteProgress(state, message);
    const target = method === undefined ? answered?.target : targetOf(message);
    if (method !== undefined && id !== undefined)
      noteOpen(state, isOut ? "out" : "in", id, { frame: number, at, method: stringOf(method), target, call });
    const head: FrameHead = {
      id: number,
      at: now(),
      server: connection.server,
      direction: isOut ? "out" : "in",
      kind:
        method !== undefined
          ? id === undefined
            ? "notification"
            : "request"
          : error === undefined
            ? "response"
            : "error",
      method: stringOf(method)?.slice(0, longestMethod) ?? answered?.method?.slice(0, longestMethod),
      target,
      rpcId: typeof id === "string" ? id.slice(0, longestId) : typeof id === "number" ? id : undefined,
      answers: answered?.frame,
      took: answered && Math.round(at - answered.at),
      bytes: text.length,
      call,
    };
    const isKept = text.length <= this.#limits.bytes;
    this.#add({
      head,
      connection,
      message: isKept ? text : undefined,
      asked: answered?.method,
      since: at - state.began,
    });
  }

  /** The call that a server's progress is about. Tells the call of it. */
  #noteProgress(state: ConnectionState, { method, params }: JsonObject): string | undefined {
    if (method !== "notifications/progress") return undefined;
    const { progressToken, progress, total, message } = objectOf(params);
    const call = state.open.get(keyOf("out", progressToken))?.call;
    if (call !== undefined && typeof progress === "number")
      this.#options.onProgress(call, {
        progress,
        ...(typeof total === "number" && { total }),
        ...(typeof message === "string" && { message }),
      });
    return call;
  }

  #stateOf(connection: TappedConnection): ConnectionState {
    const found = this.#connections.get(connection);
    if (found !== undefined) return found;
    this.#connectionCount += 1;
    const made = { id: `c${this.#connectionCount}`, began: this.#options.clock.now(), open: new Map() };
    this.#connections.set(connection, made);
    return made;
  }

  #add(frame: Frame): void {
    this.#frames.set(frame.head.id, frame);
    this.#bytes += frame.message?.length ?? 0;
    for (const [id, oldest] of this.#frames) {
      if (this.#bytes <= this.#limits.bytes && this.#frames.size <= this.#limits.frames) break;
      this.#frames.delete(id);
      this.#bytes -= oldest.message?.length ?? 0;
    }
    if (this.#batch.length < mostInEvent) this.#batch.push(frame.head);
    this.#callOff ??= this.#options.clock.after(pause, () => this.#tell(), { background: true });
  }

  #tell(): void {
    this.#callOff = undefined;
    const frames = this.#batch;
    this.#batch = [];
    this.#options.emit({ type: "frames", frames });
  }

  /**
   * The messages of a server as a recording. If its handshake is not kept, the recording begins with one that the host
   * makes from what it knows of the server, so that the recording can be played.
   */
  #recordingOf(server: string): string {
    const frames = [...this.#frames.values()].filter(({ head }) => head.server === server);
    const [first] = frames;
    if (first === undefined)
      throw new HostError("not_found", `no messages of "${server}" are kept`, { serverName: server });
    const has = (...methods: readonly string[]): boolean =>
      frames.some(({ head, message }) => message && head.kind === "response" && methods.includes(head.method ?? ""));
    const earlier = has("initialize", "server/discover") ? [] : this.#handshakeOf(server, has);
    const lines = frames.flatMap((frame) => {
      const text = writtenOf(frame);
      if (text === undefined) return [];
      const { id } = this.#stateOf(frame.connection);
      return [line(id, Math.round(frame.since), frame.head.direction === "out" ? "client" : "server", text)];
    });
    return headerLine(server, new Date(first.head.at).toISOString()) + [...earlier, ...lines].join("");
  }

  #handshakeOf(name: string, has: (method: string) => boolean): readonly string[] {
    const server = this.#options.host.gateway.servers.find(name);
    const { serverInfo, capabilities, instructions } = server?.facts() ?? {};
    const catalog = server?.catalog?.catalog;
    if (serverInfo === undefined) return [];
    const lists = {
      "tools/list": { tools: catalog?.tools },
      "prompts/list": { prompts: catalog?.prompts },
      "resources/list": { resources: catalog?.resources },
      "resources/templates/list": { resourceTemplates: catalog?.resourceTemplates },
    };
    const answers: readonly [string, JsonObject][] = [
      ["initialize", { protocolVersion: recordedVersion, serverInfo, capabilities, instructions }],
      ...Object.entries(lists).filter(([method, list]) => !has(method) && Object.values(list)[0] !== undefined),
    ];
    return answers.flatMap(([method, result], at) => [
      line("known", 0, "client", JSON.stringify({ jsonrpc: "2.0", id: at, method })),
      line("known", 0, "server", writeJson(masked({ jsonrpc: "2.0", id: at, result }, this.#options.host.hide))),
    ]);
  }
}

/** The version of a handshake that stands in for one that is not kept. */
const recordedVersion = "2025-11-25";

function line(connection: string, at: number, from: "client" | "server", message: string): string {
  return `{"c":"${connection}","at":${at},"from":"${from}","message":${message}}\n`;
}

/** The tool, prompt or resource that a request is about. */
function targetOf({ params }: JsonObject): string | undefined {
  const { name, uri } = objectOf(params);
  return (stringOf(name) ?? stringOf(uri))?.slice(0, longestTarget);
}

/** The message as JSON, with secrets hidden. */
function writtenOf({ head, connection, message, asked }: Frame): string | undefined {
  const value = message && parseObject(message.toString("utf8"));
  return value && connection.write(head.direction === "out" ? "sent" : "received", value, asked);
}

function keyOf(direction: FrameHead["direction"], id: unknown): string {
  return `${direction} ${isObject(id) ? "" : JSON.stringify(id)}`;
}

function noteOpen(
  { open }: ConnectionState,
  direction: FrameHead["direction"],
  id: unknown,
  request: OpenRequest,
): void {
  open.set(keyOf(direction, id), request);
  // A server may never answer.
  if (open.size > mostOpen) for (const oldest of open.keys()) if (open.delete(oldest)) break;
}

function takeOpen({ open }: ConnectionState, direction: FrameHead["direction"], id: unknown): OpenRequest | undefined {
  const key = keyOf(direction, id);
  const found = open.get(key);
  open.delete(key);
  return found;
}
