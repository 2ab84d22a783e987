/**
 * Runs tool calls: finds the tool, checks the arguments, waits for a slot, enforces timeouts, and repeats a failed call
 * only if that is safe.
 */

import { setMaxListeners } from "node:events";
import type { JsonObject, McpRequestOptions, ToolResult } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { type Clock, sleep, systemClock } from "../clock.ts";
import { neverLeft, pauseAfter } from "../connect/outcome.ts";
import type { CatalogTool } from "../discover/catalog.ts";
import { definitionOf } from "../discover/tool-changes.ts";
import { type ErrorCode, HostError } from "../errors.ts";
import type { McpClient } from "../mcp/client.ts";
import { closest } from "../text/closest.ts";
import { toShellWord } from "../text/shell-word.ts";
import { createCallQueue } from "./call-queue.ts";
import type { CallResult } from "./call-result.ts";
import { type CheckedArguments, checkArguments, checkOutput } from "./check-values.ts";
import type { Validator } from "./validation/validator.ts";

/** The part of a server's client that a call needs. */
export type CallClient = Pick<McpClient, "name" | "filteredCatalog" | "callTool">;

export interface Call {
  readonly client: CallClient;
  readonly tool: string;
  readonly args: unknown;
}

export interface ExecuteOptions {
  readonly signal?: AbortSignal | undefined;
  /** The longest time without a response or progress, in milliseconds. Waiting in the queue does not count. */
  readonly timeout: number;
  /** The longest time from sending to the result, in milliseconds. */
  readonly total: number;
  readonly onProgress?: McpRequestOptions["onProgress"] | undefined;
  /** Called when the call leaves the queue. */
  readonly onStart?: (() => void) | undefined;
  /** Whether the server's annotations are trusted: a read-only or idempotent tool may then be called again. */
  readonly trustAnnotations?: boolean;
}

export interface Executor {
  readonly call: (call: Call, options: ExecuteOptions) => Promise<CallResult>;
  /** Cancels all waiting and running calls; resolves when they have ended. */
  readonly close: () => Promise<void>;
}

export interface ExecutorOptions {
  readonly limits: { readonly callsPerServer: number; readonly callsTotal: number };
  /** Maximum number of calls that may wait for one server. */
  readonly queuePerServer?: number;
  readonly validator: Pick<Validator, "validate">;
  /** Returns a connected client for a server that was lost. Without it, no call is repeated. */
  readonly reconnect?: (server: string, signal: AbortSignal) => Promise<CallClient>;
  /**
   * A signal that its owner aborts before `close`. A call that is given this signal, or none, needs no abort controller,
   * which would cost as much as sending the call. Default: a signal that `close` aborts.
   */
  readonly closing?: AbortSignal;
  readonly clock?: Clock;
}

const queueOfOneServer = 256;

export function createExecutor(options: ExecutorOptions): Executor {
  const { limits, queuePerServer = queueOfOneServer, validator, reconnect, clock = systemClock } = options;
  const queue = createCallQueue({
    perServer: limits.callsPerServer,
    total: limits.callsTotal,
    waitingPerServer: queuePerServer,
  });
  const closed = new AbortController();
  const closing = options.closing ?? closed.signal;
  setMaxListeners(0, closing);
  /** The functions that cancel calls with a signal of their own. */
  const stops = new Set<() => void>();
  let running = 0;
  /** Called when no call waits or runs any more. */
  const onIdle: (() => void)[] = [];

  function end(): void {
    running -= 1;
    if (running === 0) for (const resolve of onIdle) resolve();
  }

  function start(call: Call, how: ExecuteOptions, signal: AbortSignal): Promise<CallResult> {
    const started = execute(call, how, signal);
    running += 1;
    started.then(end, end);
    return started;
  }

  async function execute(
    { client, tool: name, args: given }: Call,
    how: ExecuteOptions,
    signal: AbortSignal,
  ): Promise<CallResult> {
    const serverName = client.name;
    const tool = findTool(client, name);
    if (!isObject(given))
      throw new HostError("arguments_invalid", "Invalid parameters: must be an object", { serverName });
    let checked: CheckedArguments;
    let leave: () => void;
    try {
      signal.throwIfAborted();
      const found = checkArguments({ serverName, tool, args: given }, validator, signal);
      checked = found instanceof Promise ? await found : found;
      leave = queue.tryEnter(serverName) ?? (await queue.enter(serverName, signal));
    } catch (error) {
      // The server has seen nothing of the call yet.
      throw signal.aborted ? cancelled(client, name, signal) : error;
    }
    let answer: ToolResult;
    try {
      how.onStart?.();
      answer = await sendOnceOrAgain(client, tool, checked.args, how, signal);
    } finally {
      leave();
    }
    const unmatched = tool.outputSchema === undefined ? none : await checkOutput(answer, tool, validator);
    return toCallResult(answer, checked.warnings, unmatched);
  }

  /** @throws HostError `changed` */
  function sendOnceOrAgain(
    client: CallClient,
    tool: CatalogTool,
    args: JsonObject,
    how: ExecuteOptions,
    signal: AbortSignal,
  ): Promise<ToolResult> {
    const began = clock.now();
    // The server may be gone, or may be reconnected with other tools, while the call waited.
    const isGone = client.filteredCatalog === undefined;
    if (!isGone && !isStill(client, tool)) throw changed(client, tool);

    async function sendAgain(error: unknown): Promise<ToolResult> {
      if (!(error instanceof HostError) || reconnect === undefined || signal.aborted) throw error;
      const pause = pauseAfter(error);
      const failed = {
        code: error.code,
        neverLeft: isGone || neverLeft(error),
        annotations: tool.annotations,
        trustAnnotations: how.trustAnnotations ?? false,
        pause,
        timeLeft: Math.min(how.timeout, how.total - (clock.now() - began)),
      };
      if (!mayRepeat(failed)) throw error;
      if (pause !== undefined)
        await sleep(clock, pause, signal).catch(() => {
          throw cancelled(client, tool.name, signal, "it was sent again");
        });
      const next = await reconnect(client.name, signal).catch((failure: unknown) => {
        throw failed.neverLeft ? failure : error;
      });
      if (!isStill(next, tool)) throw failed.neverLeft ? changed(next, tool) : error;
      const total = Math.max(how.total - (clock.now() - began), 1);
      return send(next, tool, args, { ...how, total }, signal);
    }

    return send(client, tool, args, how, signal).catch(sendAgain);
  }

  return {
    call(call, given) {
      const { signal = closing } = given;
      if (signal === closing) return start(call, given, closing);
      const own = new AbortController();
      const callOff = (): void => own.abort(signal.reason);
      if (closed.signal.aborted || signal.aborted) callOff();
      // Many calls may share one signal: Node takes more than ten listeners for a leak.
      setMaxListeners(0, signal);
      signal.addEventListener("abort", callOff, { once: true });
      const started = start(call, given, own.signal);
      stops.add(callOff);
      const leave = (): void => {
        signal.removeEventListener("abort", callOff);
        stops.delete(callOff);
      };
      started.then(leave, leave);
      return started;
    },

    async close() {
      closed.abort();
      for (const callOff of stops) callOff();
      if (running > 0) await new Promise<void>((resolve) => onIdle.push(resolve));
    },
  };
}

const none: readonly string[] = [];

/** Without a rest pattern and spreads in the usual case: they take longer than the check of the arguments. */
function toCallResult(answer: ToolResult, unchecked: readonly string[], unmatched: readonly string[]): CallResult {
  const { content, isError, notes } = answer;
  const isSilent = unchecked.length + notes.length + unmatched.length === 0;
  if (isSilent && answer.structuredContent === undefined && answer.meta === undefined) return { content, isError };
  const { notes: _, ...result } = answer;
  return isSilent ? result : { ...result, warnings: [...unchecked, ...notes, ...unmatched] };
}

function send(
  client: CallClient,
  tool: CatalogTool,
  args: JsonObject,
  { timeout, total, onProgress }: ExecuteOptions,
  signal: AbortSignal,
): Promise<ToolResult> {
  const asTask = tool.execution?.["taskSupport"] === "required";
  const options = { signal, timeout, total, asTask };
  return client.callTool(tool.name, args, onProgress ? { ...options, onProgress } : options);
}

/** Whether the tool's definition is the same as when the call was decided. */
function isStill({ filteredCatalog }: CallClient, tool: CatalogTool): boolean {
  const now = filteredCatalog && toolNamed(filteredCatalog.catalog.tools, tool.name);
  return now !== undefined && (now === tool || definitionOf(now) === definitionOf(tool));
}

function cancelled(
  { name: serverName }: CallClient,
  tool: string,
  { reason }: AbortSignal,
  before = "it was sent",
): HostError {
  const message = `${serverName}.${tool} was cancelled before ${before}`;
  return new HostError("cancelled", message, { serverName, cause: reason });
}

function changed({ name: serverName }: CallClient, tool: CatalogTool): HostError {
  const message = `${serverName}.${tool.name} was not called: its definition changed while the call waited`;
  return new HostError("changed", message, { serverName, next: `fairlead tools ${toShellWord(serverName)}` });
}

interface FailedCall {
  readonly code: ErrorCode;
  /** The call certainly did not reach the server. */
  readonly neverLeft: boolean;
  /** The tool's annotations, claimed by the server. */
  readonly annotations: JsonObject | undefined;
  /** Whether the annotations of the tool are trusted. */
  readonly trustAnnotations: boolean;
  /** Milliseconds that a busy server asks to wait. */
  readonly pause: number | undefined;
  /** Milliseconds that the call may still take. */
  readonly timeLeft: number;
}

/** Whether a failed call may be sent again without asking: never if it could take effect twice. */
export function mayRepeat(failed: FailedCall): boolean {
  const { code, neverLeft, annotations, trustAnnotations, pause, timeLeft } = failed;
  if (pause !== undefined && pause >= timeLeft) return false;
  // The connection failed, and a new one may succeed. Any other error would occur again.
  if (neverLeft) return code === "unreachable" || code === "server_exited";
  return code === "lost" && trustAnnotations && isHarmless(annotations);
}

function isHarmless(annotations: JsonObject = {}): boolean {
  return annotations["readOnlyHint"] === true || annotations["idempotentHint"] === true;
}

/** Returns the tool. @throws HostError `denied` if a filter hides it, `tool_unknown` */
export function findTool(
  { name: serverName, filteredCatalog }: Pick<McpClient, "name" | "filteredCatalog">,
  tool: string,
): CatalogTool {
  const tools = filteredCatalog?.catalog.tools ?? [];
  const found = toolNamed(tools, tool);
  if (found) return found;
  const setting = filteredCatalog?.hidden.get(tool);
  if (setting !== undefined)
    throw new HostError(
      "denied",
      `${serverName}.${tool} denied: ${setting} of "${serverName}" in the settings excludes it`,
      {
        serverName,
        next: `Change ${setting} of "${serverName}" in the settings.`,
      },
    );
  const names = tools.map(({ name }) => name);
  const near = closest(tool, names);
  const suggestion = near === undefined ? "" : `; did you mean "${near}"?`;
  throw new HostError("tool_unknown", `"${serverName}" has no tool "${tool}"${suggestion}`, {
    serverName,
    next: `fairlead tools ${toShellWord(serverName)}`,
  });
}

const indexes = new WeakMap<readonly CatalogTool[], ReadonlyMap<string, CatalogTool>>();

/** Finds a tool without a search through a long list for each call. Catalogs are immutable. */
function toolNamed(tools: readonly CatalogTool[], name: string): CatalogTool | undefined {
  let index = indexes.get(tools);
  if (index === undefined) {
    index = new Map(tools.toReversed().map((tool) => [tool.name, tool]));
    indexes.set(tools, index);
  }
  return index.get(name);
}
