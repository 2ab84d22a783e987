/** `SecureMCPToolExecutor`: runs a program's own tools with the limits and checks of the host. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { type Clock, systemClock } from "../clock.ts";
import { HostError } from "../errors.ts";
import type { ToolExecution } from "../registry/binding.ts";
import { toPlainArguments } from "../registry/plain-arguments.ts";
import { type CallQueue, createCallQueue } from "./call-queue.ts";
import { describeIssues, validateArguments } from "./check-values.ts";
import { createValidator, type Validator } from "./validation/validator.ts";

/** The members of a `DiscoveredMCPTool` that the executor needs. */
export interface ExecutableTool {
  readonly serverName: string;
  readonly serverToolName: string;
  readonly parameterSchemaJson: unknown;
  readonly timeout?: number | undefined;
  execute(params: unknown, signal?: AbortSignal): Promise<ToolExecution>;
}

/** Options of `SecureMCPToolExecutor`. */
export interface SecureMCPToolExecutorOptions {
  /** Maximum number of calls that run at the same time, over all servers. Default: 5. */
  readonly maxConcurrentExecutions?: number;
  /** Maximum number of calls that may wait for one server. Default: 256. */
  readonly maxWaitingPerServer?: number;
  /** Timeout in milliseconds of a tool that has no `timeout`. Default: 30 000. The time in the queue does not count. */
  readonly executionTimeout?: number;
  readonly clock?: Clock;
}

/**
 * Runs a program's own tools. Checks their arguments, and limits concurrent calls and their time. Does not ask for
 * confirmation: call `shouldConfirmExecute` first.
 *
 * @example
 * ```ts fragment
 * const executor = new SecureMCPToolExecutor();
 * const { returnDisplay } = await executor.executeWithSafeguards(tool, { path: "notes.txt" });
 * await executor[Symbol.asyncDispose]();
 * ```
 */
export class SecureMCPToolExecutor implements AsyncDisposable {
  readonly #queue: CallQueue;
  readonly #timeout: number;
  readonly #clock: Clock;
  readonly #validator: Validator = createValidator();
  readonly #closing = new AbortController();
  readonly #open = new Set<Promise<unknown>>();

  constructor(options: SecureMCPToolExecutorOptions = {}) {
    const { maxConcurrentExecutions = 5, maxWaitingPerServer = 256, executionTimeout = 30_000 } = options;
    this.#queue = createCallQueue({
      perServer: maxConcurrentExecutions,
      total: maxConcurrentExecutions,
      waitingPerServer: maxWaitingPerServer,
    });
    this.#timeout = executionTimeout;
    this.#clock = options.clock ?? systemClock;
  }

  /**
   * Runs the tool. If too many calls are running, the call waits.
   *
   * @throws HostError `arguments_invalid`, `busy` (too many calls wait), `call_timeout`, `cancelled`, and errors of the
   * tool
   */
  async executeWithSafeguards(tool: ExecutableTool, params: unknown, signal?: AbortSignal): Promise<ToolExecution> {
    const running = this.#run(tool, params, signal);
    this.#open.add(running);
    return running.finally(() => this.#open.delete(running));
  }

  /** Cancels all waiting and running calls. Resolves when they have ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#open);
    await this.#validator.close();
  }

  async #run(tool: ExecutableTool, params: unknown, given: AbortSignal | undefined): Promise<ToolExecution> {
    const { serverName } = tool;
    const signal = given ? AbortSignal.any([given, this.#closing.signal]) : this.#closing.signal;
    const args = toPlainArguments(params, serverName);
    try {
      signal.throwIfAborted();
      await this.#check(tool, args, signal);
      const leave = await this.#queue.enter(serverName, signal);
      try {
        return await this.#execute(tool, args, signal);
      } finally {
        leave();
      }
    } catch (error) {
      if (!signal.aborted || error instanceof HostError) throw error;
      throw cancelled(tool, error);
    }
  }

  async #check(
    { serverName, serverToolName, parameterSchemaJson }: ExecutableTool,
    args: JsonObject,
    signal: AbortSignal,
  ) {
    if (!isObject(parameterSchemaJson)) return;
    const { issues } = await validateArguments(this.#validator, parameterSchemaJson, args, signal);
    if (issues.length === 0) return;
    const wrong = describeIssues(issues, { schema: parameterSchemaJson, value: args, whole: "the arguments" });
    const message = `${serverName}.${serverToolName} has invalid arguments: ${wrong}`;
    throw new HostError("arguments_invalid", message, { serverName });
  }

  async #execute(tool: ExecutableTool, args: JsonObject, signal: AbortSignal): Promise<ToolExecution> {
    const timeout = tool.timeout ?? this.#timeout;
    const stop = new AbortController();
    const ends: (() => void)[] = [];
    const ended = new Promise<never>((_, reject) => {
      const leave = (): void => reject(cancelled(tool, signal.reason));
      const expire = (): void => {
        reject(timedOut(tool, timeout));
        stop.abort();
      };
      signal.addEventListener("abort", leave, { once: true });
      ends.push(() => signal.removeEventListener("abort", leave), this.#clock.after(timeout, expire));
    });
    try {
      // A tool may ignore its signal. The race gives the caller an error in time anyway.
      const execution: unknown = await Promise.race([
        tool.execute(args, AbortSignal.any([signal, stop.signal])),
        ended,
      ]);
      if (isExecution(execution)) return execution;
      throw new HostError("protocol", "Invalid tool result: missing llmContent", { serverName: tool.serverName });
    } finally {
      for (const end of ends) end();
    }
  }
}

function isExecution(value: unknown): value is ToolExecution {
  return typeof value === "object" && value !== null && "llmContent" in value && Array.isArray(value.llmContent);
}

function timedOut({ serverName, serverToolName }: ExecutableTool, timeout: number): HostError {
  const message = `${serverName}.${serverToolName} timed out: no result within ${timeout} ms; the request may or may not have run`;
  return new HostError("call_timeout", message, { serverName, next: "Give the tool a longer timeout." });
}

function cancelled({ serverName, serverToolName }: ExecutableTool, cause: unknown): HostError {
  return new HostError("cancelled", `${serverName}.${serverToolName} was cancelled`, { serverName, cause });
}
