/** `SecureMCPToolExecutor`: runs tools with a limit, checked arguments and a timeout. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { type Clock, systemClock } from "../clock.ts";
import { HostError } from "../errors.ts";
import { describeIssues, validateArguments } from "../execute/check-values.ts";
import { createValidator, type Validator } from "../execute/validation/validator.ts";
import {
  aCount,
  aFunction,
  anObject,
  aSignal,
  aString,
  expectArguments,
  optional,
  readMembers,
  someMilliseconds,
  withMethod,
} from "../expect-arguments.ts";
import type { ToolParams } from "./base-tool.ts";
import { readParams } from "./params.ts";

/** What the executor needs of a tool. A `DiscoveredMCPTool` has it, and so has a tool of a host. */
export interface ExecutableTool<Result extends object> {
  readonly serverName: string;
  readonly serverToolName: string;
  readonly parameterSchemaJson: unknown;
  readonly timeout?: number | undefined;
  /** Returns the arguments with the property names of `parameterSchemaJson`. Default: they have these names. */
  toServerArguments?(params: ToolParams): JsonObject;
  execute(params: ToolParams, signal?: AbortSignal): Promise<Result>;
}

/** Options of `SecureMCPToolExecutor`. */
export interface SecureMCPToolExecutorOptions {
  /** Maximum number of calls that run at the same time. Default: 5. */
  readonly maxConcurrentExecutions?: number;
  /** Timeout in milliseconds of a tool that has no `timeout`. Default: 30 000. */
  readonly executionTimeout?: number;
  readonly clock?: Clock;
}

const wantedOptions = {
  maxConcurrentExecutions: optional(aCount),
  executionTimeout: optional(someMilliseconds),
  clock: optional(withMethod("after")),
};

/**
 * Runs tools of a program. Checks their arguments, and limits concurrent calls and their time. Does not ask for
 * confirmation: call `shouldConfirmExecute` first. Over its limit it throws; a host lets calls wait instead.
 *
 * @example
 * ```ts
 * import { MCPToolTestHelper, SecureMCPToolExecutor } from "@fairlead/core/gemini";
 *
 * const executor = new SecureMCPToolExecutor();
 * const { returnDisplay } = await executor.executeWithSafeguards(MCPToolTestHelper.createTestTool(), { path: "a.txt" });
 * await executor[Symbol.asyncDispose]();
 * ```
 */
export class SecureMCPToolExecutor implements AsyncDisposable {
  readonly #most: number;
  readonly #timeout: number;
  readonly #clock: Clock;
  readonly #validator: Validator = createValidator();
  readonly #closing = new AbortController();
  readonly #open = new Set<Promise<unknown>>();

  constructor(options: SecureMCPToolExecutorOptions = {}) {
    const call = "new SecureMCPToolExecutor()";
    expectArguments(call, { options: [options, anObject] });
    const {
      maxConcurrentExecutions = 5,
      executionTimeout = 30_000,
      clock = systemClock,
    } = readMembers(call, options, wantedOptions, "options.");
    this.#most = maxConcurrentExecutions;
    this.#timeout = executionTimeout;
    this.#clock = clock;
  }

  /**
   * Runs the tool.
   *
   * @throws HostError `usage`, `busy` (too many calls run), `arguments_invalid`, `call_timeout`, `cancelled`,
   * `protocol`, and errors of the tool
   */
  async executeWithSafeguards<Result extends object>(
    tool: ExecutableTool<Result>,
    params: ToolParams,
    signal?: AbortSignal,
  ): Promise<Result> {
    const call = "executeWithSafeguards()";
    expectArguments(call, { tool: [tool, withMethod("execute")] });
    const wanted = {
      serverName: aString,
      serverToolName: aString,
      timeout: optional(someMilliseconds),
      toServerArguments: optional(aFunction),
    };
    const { serverName } = readMembers(call, tool, wanted, "tool.");
    expectArguments(call, { signal: [signal, optional(aSignal)] });
    if (this.#open.size >= this.#most)
      throw new HostError("busy", "Too many concurrent tool executions", { serverName });
    const running = this.#run(tool, params, signal);
    this.#open.add(running);
    return running.finally(() => this.#open.delete(running));
  }

  /** Cancels all running calls. Resolves when they have ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#open);
    await this.#validator.close();
  }

  async #run<Result extends object>(
    tool: ExecutableTool<Result>,
    params: ToolParams,
    given: AbortSignal | undefined,
  ): Promise<Result> {
    const signal = given ? AbortSignal.any([given, this.#closing.signal]) : this.#closing.signal;
    const args = readParams("executeWithSafeguards()", params, tool.serverName);
    try {
      signal.throwIfAborted();
      // The schema has the server's own names. The tool gets the names that it was called with, and restores them again.
      await this.#check(tool, tool.toServerArguments?.(args) ?? args, signal);
      return await this.#execute(tool, args, signal);
    } catch (error) {
      if (!signal.aborted || error instanceof HostError) throw error;
      throw cancelled(tool, error);
    }
  }

  async #check(
    { serverName, serverToolName, parameterSchemaJson }: ExecutableTool<object>,
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

  async #execute<Result extends object>(
    tool: ExecutableTool<Result>,
    args: JsonObject,
    signal: AbortSignal,
  ): Promise<Result> {
    const timeout = tool.timeout || this.#timeout;
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
      const result = await Promise.race([tool.execute(args, AbortSignal.any([signal, stop.signal])), ended]);
      if (isResult(result)) return result;
      throw new HostError("protocol", "Invalid tool result: missing llmContent", { serverName: tool.serverName });
    } finally {
      for (const end of ends) end();
    }
  }
}

/** Checks the result, because a program's own tool may return anything. */
function isResult(value: unknown): boolean {
  return typeof value === "object" && value !== null && "llmContent" in value && Array.isArray(value.llmContent);
}

function timedOut({ serverName, serverToolName }: ExecutableTool<object>, timeout: number): HostError {
  const message = `timeout: ${serverName}.${serverToolName} gave no result within ${timeout} ms; the request may or may not have run`;
  return new HostError("call_timeout", message, { serverName, next: "Give the tool a longer timeout." });
}

function cancelled({ serverName, serverToolName }: ExecutableTool<object>, cause: unknown): HostError {
  return new HostError("cancelled", `${serverName}.${serverToolName} was cancelled`, { serverName, cause });
}
