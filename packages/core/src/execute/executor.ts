/**
 * Runs tool calls: finds the tool, checks the arguments, waits until the call may start, enforces timeouts, and repeats
 * a failed call only if that is safe.
 */

import { setMaxListeners } from "node:events";
import type { JsonObject, McpRequestOptions, ToolResult } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { type Clock, sleep, systemClock } from "../clock.ts";
import { neverLeft, pauseAfter } from "../connect/outcome.ts";
import { HostError } from "../errors.ts";
import type { CatalogTool } from "../server/catalog.ts";
import type { Connection } from "../server/connection.ts";
import { definitionOf } from "../server/tool-changes.ts";
import { closest } from "../text/closest.ts";
import { toShellWord } from "../text/shell-word.ts";
import { unlessAborted } from "../unless-aborted.ts";
import { type CallLimits, CallQueue } from "./call-queue.ts";
import { checkArguments, checkOutput } from "./check-values.ts";
import { type ClientOptions, callCancelled, mayRepeat, requestOptions, toolChanged } from "./repeat.ts";
import type { Validator } from "./validation/validator.ts";

/** The members of a server's client that a call needs. */
export type CallClient = Pick<Connection, "name" | "filteredCatalog" | "callTool" | "request"> &
  Partial<Pick<Connection, "upToDate" | "connectionId">>;

/** A tool call to run. `tool` is the server's own name of the tool. */
export interface Call<Client extends CallClient = CallClient, Raw = undefined> {
  readonly client: Client;
  readonly tool: string;
  readonly args: unknown;
  /** Absent if the call is not a gateway client's. */
  readonly raw?: Raw;
}

/** What a gateway client sends to call a tool. */
export interface RawCall {
  /** The parameters as the client sent them. Arguments that the executor does not change are sent exactly so. */
  readonly params: JsonObject;
  readonly options: ClientOptions;
  /** Identifies the client's connection. */
  readonly owner: string;
}

type AnyCall<Client extends CallClient> = Call<Client, RawCall | undefined>;

/** Timeouts, signal and listeners of one call. */
export interface ExecuteOptions {
  readonly signal?: AbortSignal;
  /** The longest time without a response or progress, in milliseconds. The time in the queue does not count. */
  readonly timeout: number;
  /** The longest time from sending to the result, in milliseconds. */
  readonly total: number;
  readonly onProgress?: McpRequestOptions["onProgress"];
  /** Members of `_meta`: the trace context of the call. */
  readonly meta?: JsonObject | undefined;
  readonly capabilities?: McpRequestOptions["capabilities"];
  /** Called when the call leaves the queue. */
  readonly onStart?: () => void;
  /** Whether the call has already waited for its turn, so that it need not wait in the executor's queue. */
  readonly isInTurn?: boolean;
  /**
   * Whether the user trusts the server's annotations. If so, a read-only or idempotent tool may be called again after a
   * failure.
   */
  readonly trustAnnotations?: boolean;
}

/** Limits, validator and connections that an executor uses. */
export interface ExecutorOptions<Client extends CallClient = CallClient> {
  /** Returns the limits that apply now. A reload may change them. */
  readonly limits: () => CallLimits;
  /** Maximum number of calls that may wait for one server. */
  readonly queuePerServer?: number;
  readonly validator: Pick<Validator, "validate">;
  /** Returns a connected client for a server whose connection was lost. If absent, no call is repeated. */
  readonly reconnect?: (client: Client, signal: AbortSignal) => Promise<Client>;
  readonly clock?: Clock;
}

/** Runs tool calls on connected servers, within the limits. By default, at most 256 calls wait for one server. */
export class Executor<Client extends CallClient = CallClient> {
  readonly #validator: ExecutorOptions["validator"];
  readonly #reconnect: ExecutorOptions<Client>["reconnect"];
  readonly #clock: Clock;
  readonly #queue: CallQueue;
  /** The signal of calls that have none. */
  readonly #unaborted = new AbortController().signal;

  constructor({ limits, queuePerServer, validator, reconnect, clock = systemClock }: ExecutorOptions<Client>) {
    this.#validator = validator;
    this.#reconnect = reconnect;
    this.#clock = clock;
    this.#queue = new CallQueue(limits, queuePerServer);
    setMaxListeners(0, this.#unaborted);
  }

  /**
   * Runs a call. The result of a gateway client's call is returned exactly as the server sent it, and the server's list
   * need not contain its tool.
   */
  call(call: Call<Client>, how: ExecuteOptions): Promise<CallResult>;
  call(call: AnyCall<Client>, how: ExecuteOptions): Promise<CallResult | JsonObject>;
  async call(call: AnyCall<Client>, how: ExecuteOptions): Promise<CallResult | JsonObject> {
    const { client, tool: name, args: given, raw } = call;
    const tool = raw === undefined ? findTool(client, name) : findListed(client, name);
    const { signal = this.#unaborted } = how;
    const clock = this.#clock;
    if (!isObject(given))
      throw new HostError("arguments_invalid", "Invalid parameters: must be an object", { serverName: client.name });
    let isInQueue = false;
    let isSent = false;
    let warnings: readonly string[] = [];
    let answer: ToolResult | JsonObject;
    try {
      signal.throwIfAborted();
      const checked = tool && (await checkArguments(client.name, tool, given, this.#validator, signal));
      const args = checked?.args ?? given;
      warnings = checked?.warnings ?? [];
      if (how.isInTurn !== true) {
        const waiting = this.#queue.enter(client.name, signal);
        if (waiting) await waiting;
        isInQueue = true;
      }
      // While the call waited, the server may have reported a change of its tools, or may have been connected again.
      const reading = client.upToDate?.("tools");
      if (reading) await unlessAborted(reading, signal, () => callCancelled(client.name, name, signal));
      const isUnlisted = client.filteredCatalog === undefined && client.connectionId !== undefined;
      if (isUnlisted) await this.#reconnect?.(client, signal);
      signal.throwIfAborted();
      const isGone = client.filteredCatalog === undefined;
      how.onStart?.();
      if (!isGone && !isStill(client, name, tool)) throw toolChanged(client.name, name);
      const began = clock.now();
      isSent = true;
      try {
        answer = await send(call, client, args, optionsOf(tool, how, signal, how.total));
      } catch (error) {
        const first = { definition: tool, error, isGone, began };
        answer = await this.#sendAgain(call, args, how, signal, first);
      }
    } catch (error) {
      throw signal.aborted && !isSent ? callCancelled(client.name, name, signal) : error;
    } finally {
      if (isInQueue) this.#queue.leave(client.name);
    }
    if (raw !== undefined) return answer;
    const result = answer as ToolResult;
    const unmatched = tool?.outputSchema === undefined ? [] : await checkOutput(result, tool, this.#validator);
    return toCallResult(result, warnings, unmatched);
  }

  /**
   * Sends a failed call again if that is safe.
   *
   * @throws HostError `changed`, `cancelled`, or the error of the first call, of reconnecting or of the second call
   */
  async #sendAgain(
    call: AnyCall<Client>,
    args: JsonObject,
    how: ExecuteOptions,
    signal: AbortSignal,
    { definition, error, isGone, began }: FirstFailure,
  ): Promise<ToolResult | JsonObject> {
    const { client, tool: name } = call;
    const reconnect = this.#reconnect;
    const clock = this.#clock;
    if (!(error instanceof HostError) || reconnect === undefined || signal.aborted) throw error;
    const pause = pauseAfter(error);
    const failed = {
      code: error.code,
      neverLeft: isGone || neverLeft(error),
      annotations: definition?.annotations,
      trustAnnotations: how.trustAnnotations ?? false,
      pause,
      timeLeft: Math.min(how.timeout, how.total - (clock.now() - began)),
    };
    if (!mayRepeat(failed)) throw error;
    if (pause !== undefined)
      await sleep(clock, pause, signal).catch(() => {
        throw callCancelled(client.name, name, signal, "before it was sent again");
      });
    const next = await reconnect(client, signal).catch((failure: unknown) => {
      throw failed.neverLeft ? failure : error;
    });
    if (!isStill(next, name, definition)) throw failed.neverLeft ? toolChanged(next.name, name) : error;
    const total = Math.max(how.total - (clock.now() - began), 1);
    return send(call, next, args, optionsOf(definition, how, signal, total));
  }
}

/** Sends a call with these arguments on this connection. */
function send(
  { tool: name, args: given, raw }: AnyCall<CallClient>,
  client: CallClient,
  args: JsonObject,
  times: McpRequestOptions,
): Promise<ToolResult | JsonObject> {
  if (raw === undefined) return client.callTool(name, args, times);
  const { params, options, owner } = raw;
  const sent = args === given ? params : { ...params, arguments: args };
  return client.request(`${client.name}.${name}`, "tools/call", sent, requestOptions(times, options, owner));
}

/** The failure of the first attempt to send a call. */
interface FirstFailure {
  readonly definition: CatalogTool | undefined;
  readonly error: unknown;
  /** Whether the connection ended before the call could be sent. */
  readonly isGone: boolean;
  /** When the call was sent, by the executor's clock. */
  readonly began: number;
}

/** The request options for sending a call. */
export function optionsOf(
  tool: CatalogTool | undefined,
  { timeout, onProgress, meta, capabilities }: ExecuteOptions,
  signal: AbortSignal,
  total: number,
): McpRequestOptions {
  const asTask = tool?.execution?.["taskSupport"] === "required";
  return { signal, timeout, total, asTask, onProgress, meta, capabilities };
}

/**
 * Whether the tool still has the definition from the beginning of the call. Also true if the server never listed the
 * tool.
 */
export function isStill({ filteredCatalog }: CallClient, name: string, tool: CatalogTool | undefined): boolean {
  const now = filteredCatalog && toolNamed(filteredCatalog.catalog.tools, name);
  if (now === undefined || tool === undefined) return now === tool;
  return now === tool || definitionOf(now) === definitionOf(tool);
}

/**
 * Returns the listed tool.
 *
 * @throws HostError `denied` if a filter hides it, `tool_unknown` if the server does not list it
 */
export function findTool(
  { name: serverName, filteredCatalog }: Pick<Connection, "name" | "filteredCatalog">,
  tool: string,
): CatalogTool {
  const found = findListed({ name: serverName, filteredCatalog }, tool);
  if (found) return found;
  const tools = filteredCatalog?.catalog.tools ?? [];
  const names = tools.map(({ name }) => name);
  const near = closest(tool, names);
  const suggestion = near === undefined ? "" : `; did you mean "${near}"?`;
  throw new HostError("tool_unknown", `"${serverName}" has no tool "${tool}"${suggestion}`, {
    serverName,
    next: `fairlead tools ${toShellWord(serverName)}`,
  });
}

/**
 * Returns the tool; undefined if the server does not list it.
 *
 * @throws HostError `denied` if a filter hides it
 */
export function findListed(
  { name: serverName, filteredCatalog }: Pick<Connection, "name" | "filteredCatalog">,
  tool: string,
): CatalogTool | undefined {
  const found = toolNamed(filteredCatalog?.catalog.tools ?? [], tool);
  const setting = found === undefined ? filteredCatalog?.hidden.get(tool) : undefined;
  if (setting === undefined) return found;
  throw new HostError(
    "denied",
    `${serverName}.${tool} denied: ${setting} of "${serverName}" in the settings excludes it`,
    { serverName, next: `Change ${setting} of "${serverName}" in the settings.` },
  );
}

const indexes = new WeakMap<readonly CatalogTool[], ReadonlyMap<string, CatalogTool>>();

/** Finds a tool by name. Indexes each catalog once, so that a call need not search a long list. */
export function toolNamed(tools: readonly CatalogTool[], name: string): CatalogTool | undefined {
  let index = indexes.get(tools);
  if (index === undefined) {
    index = new Map(tools.toReversed().map((tool) => [tool.name, tool]));
    indexes.set(tools, index);
  }
  return index.get(name);
}

/** The result of a tool call. An error that the tool itself reports is a result too. */
export interface CallResult extends Omit<ToolResult, "notes"> {
  /** Warnings, for example that an argument was not checked, or that the result violates the tool's output schema. */
  readonly warnings?: readonly string[];
}

/** Creates the result of a call. Avoids object spreads for a plain result, because they are slow. */
function toCallResult(answer: ToolResult, unchecked: readonly string[], unmatched: readonly string[]): CallResult {
  const { content, isError, notes } = answer;
  const isSilent = unchecked.length + notes.length + unmatched.length === 0;
  if (isSilent && answer.structuredContent === undefined && answer.meta === undefined) return { content, isError };
  const { notes: _, ...result } = answer;
  return isSilent ? result : { ...result, warnings: [...unchecked, ...notes, ...unmatched] };
}
