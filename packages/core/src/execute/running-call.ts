/** One call of the executor: its options, its steps, and its state from the check of its arguments to its end. */

import type { JsonObject, McpRequestOptions } from "@fairlead/wire";
import type { CatalogTool } from "../discover/catalog.ts";
import { definitionOf } from "../discover/tool-changes.ts";
import type { McpClient } from "../mcp/client.ts";
import type { RequestSignal } from "../mcp/unless-aborted.ts";
import type { CallQueue } from "./call-queue.ts";
import type { CheckedArguments } from "./check-values.ts";
import { toolNamed } from "./find-tool.ts";

/** The part of a server's client that a call needs. */
export type CallClient = Pick<McpClient, "name" | "filteredCatalog" | "callTool">;

export interface Call<Client extends CallClient = CallClient> {
  readonly client: Client;
  readonly tool: string;
  readonly args: unknown;
}

/** A call whose result is returned to the caller exactly as the server sent it. */
export interface RawCall<Client extends CallClient, Answer> extends Call<Client> {
  /** Sends the call. Called a second time, with a new connection, only if repeating the call is safe. */
  readonly send: (client: Client, args: JsonObject, options: McpRequestOptions, tool: string) => Promise<Answer>;
}

export interface ExecuteOptions {
  readonly signal?: RequestSignal | undefined;
  /** The longest time without a response or progress, in milliseconds. The time in the queue does not count. */
  readonly timeout: number;
  /** The longest time from sending to the result, in milliseconds. */
  readonly total: number;
  readonly onProgress?: McpRequestOptions["onProgress"] | undefined;
  /** Called when the call leaves the queue. */
  readonly onStart?: (() => void) | undefined;
  /**
   * The sender of the call. Each sender has its own queue, so that the calls of one sender never wait for those of
   * another.
   */
  readonly sender?: string | undefined;
  /**
   * Whether the user trusts the server's annotations. If so, a read-only or idempotent tool may be called again after a
   * failure.
   */
  readonly trustAnnotations?: boolean | undefined;
}

/** The steps in which the calls of a model or user differ from those of a gateway's client. */
export interface CallSteps<Client extends CallClient, Answer, Result> extends Pick<RawCall<Client, Answer>, "send"> {
  readonly find: (client: Client, name: string) => CatalogTool | undefined;
  readonly finish: (
    answer: Answer,
    tool: CatalogTool | undefined,
    warnings: readonly string[],
  ) => Result | Promise<Result>;
}

/** A call from the check of its arguments to its end. */
export class RunningCall<Client extends CallClient, Answer, Result> {
  readonly client: Client;
  readonly name: string;
  /** The tool's definition; undefined if the server does not list the tool. */
  readonly tool: CatalogTool | undefined;
  /** The arguments to send. */
  args: JsonObject;
  /** Warnings about the arguments. */
  warnings: readonly string[];
  readonly how: ExecuteOptions;
  readonly signal: RequestSignal;
  readonly steps: CallSteps<Client, Answer, Result>;
  readonly queue: CallQueue;

  constructor(
    client: Client,
    name: string,
    tool: CatalogTool | undefined,
    args: JsonObject,
    how: ExecuteOptions,
    signal: RequestSignal,
    steps: CallSteps<Client, Answer, Result>,
    queue: CallQueue,
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
  /** Whether the server was disconnected before the call could be sent. */
  readonly isGone: boolean;
  /** When the call was sent, by the executor's clock. */
  readonly began: number;
}

const none: readonly string[] = [];

/** The options with which a call is sent. */
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
 * Whether the tool has the same definition as when the call began. Also true if the server listed the tool neither then
 * nor now.
 */
export function isStill({ filteredCatalog }: CallClient, name: string, tool: CatalogTool | undefined): boolean {
  const now = filteredCatalog && toolNamed(filteredCatalog.catalog.tools, name);
  if (now === undefined || tool === undefined) return now === tool;
  return now === tool || definitionOf(now) === definitionOf(tool);
}
