/** The types of a tool call, and the state of a call while the executor runs it. */

import type { JsonObject, McpRequestOptions } from "@fairlead/wire";
import type { CatalogTool } from "../discover/catalog.ts";
import { definitionOf } from "../discover/tool-changes.ts";
import type { ServerClient } from "../mcp/client.ts";
import type { RequestSignal } from "../mcp/unless-aborted.ts";
import type { CallQueue } from "./call-queue.ts";
import type { CheckedArguments } from "./check-values.ts";
import { toolNamed } from "./find-tool.ts";

/** The members of a server's client that a call needs. */
export type CallClient = Pick<ServerClient, "name" | "filteredCatalog" | "callTool"> &
  Partial<Pick<ServerClient, "upToDate">>;

/** A tool call to run. `tool` is the server's own name of the tool. */
export interface Call<Client extends CallClient = CallClient> {
  readonly client: Client;
  readonly tool: string;
  readonly args: unknown;
}

/** A call whose result the executor returns exactly as the server sent it. */
export interface RawCall<Client extends CallClient, Answer> extends Call<Client> {
  /** Sends the call. May be called a second time with a new connection, if repeating is safe. */
  readonly send: (client: Client, args: JsonObject, options: McpRequestOptions, tool: string) => Promise<Answer>;
}

/** Timeouts, signal and listeners of one call. */
export interface ExecuteOptions {
  readonly signal?: RequestSignal | undefined;
  /** The longest time without a response or progress, in milliseconds. The time in the queue does not count. */
  readonly timeout: number;
  /** The longest time from sending to the result, in milliseconds. */
  readonly total: number;
  readonly onProgress?: McpRequestOptions["onProgress"] | undefined;
  /** Called when the call leaves the queue. */
  readonly onStart?: (() => void) | undefined;
  /** Whether the call has already waited for its turn, so that it need not wait in the executor's queue. */
  readonly isInTurn?: boolean | undefined;
  /**
   * Whether the user trusts the server's annotations. If so, a read-only or idempotent tool may be called again after a
   * failure.
   */
  readonly trustAnnotations?: boolean | undefined;
}

/** The steps that differ between a call from a model or user and a call from a gateway client. */
export interface CallSteps<Client extends CallClient, Answer, Result> extends Pick<RawCall<Client, Answer>, "send"> {
  readonly find: (client: Client, name: string) => CatalogTool | undefined;
  readonly finish: (
    answer: Answer,
    tool: CatalogTool | undefined,
    warnings: readonly string[],
  ) => Result | Promise<Result>;
}

/** The members of a queue that a running call needs. */
export type RunningCallQueue = Pick<CallQueue, "tryEnter" | "wait" | "leave">;

/** A call that the executor is running, with its current state. */
export class RunningCall<Client extends CallClient, Answer, Result> {
  readonly client: Client;
  readonly name: string;
  /** The tool's definition; undefined if the server does not list the tool. */
  readonly tool: CatalogTool | undefined;
  args: JsonObject;
  warnings: readonly string[];
  readonly how: ExecuteOptions;
  readonly signal: RequestSignal;
  readonly steps: CallSteps<Client, Answer, Result>;
  readonly queue: RunningCallQueue;

  constructor(
    client: Client,
    name: string,
    tool: CatalogTool | undefined,
    args: JsonObject,
    how: ExecuteOptions,
    signal: RequestSignal,
    steps: CallSteps<Client, Answer, Result>,
    queue: RunningCallQueue,
  ) {
    this.client = client;
    this.name = name;
    this.tool = tool;
    this.args = args;
    this.warnings = none;
    this.how = how;
    this.signal = signal;
    this.steps = steps;
    this.queue = queue;
  }

  setChecked({ args, warnings }: CheckedArguments): void {
    this.args = args;
    this.warnings = warnings;
  }
}

/** The failure of the first attempt to send a call. */
export interface FirstFailure {
  readonly error: unknown;
  /** Whether the connection ended before the call could be sent. */
  readonly isGone: boolean;
  /** When the call was sent, by the executor's clock. */
  readonly began: number;
}

const none: readonly string[] = [];

/** The request options for sending a call. */
export function optionsOf(
  tool: CatalogTool | undefined,
  { timeout, onProgress }: ExecuteOptions,
  given: RequestSignal,
  total: number,
): McpRequestOptions {
  const asTask = tool?.execution?.["taskSupport"] === "required";
  if ("onAbort" in given) return { signal: undefined, stop: given, timeout, total, asTask, onProgress };
  return { signal: given, stop: undefined, timeout, total, asTask, onProgress };
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
