/**
 * Runs one call of a `CallableTool`. After a timeout or a cancellation the caller stops waiting, and the server is told
 * if the `CallableTool` comes from `mcpToTool`.
 */

import type { JsonObject } from "@fairlead/wire";
import type { Clock } from "../clock.ts";
import { HostError } from "../errors.ts";
import type { CallableTool, FunctionCall, Part } from "../normalise/model-types.ts";

/** One call, its timeout in milliseconds and its abort signal. Without a timeout, or with 0, it waits without limit. */
export interface CallableCall {
  readonly callable: CallableTool;
  readonly serverName: string;
  readonly serverToolName: string;
  readonly args: JsonObject;
  readonly signal: AbortSignal | undefined;
  readonly timeout: number | undefined;
  readonly clock: Clock;
}

/** A `CallableTool` whose calls can be cancelled. */
export interface CancellableTool extends CallableTool {
  readonly callUntil: (calls: FunctionCall[], signal: AbortSignal) => Promise<Part[]>;
}

/** Runs the call and returns its raw response parts. @throws HostError `protocol`, `call_timeout`, `cancelled` */
export async function callRaw(call: CallableCall): Promise<Part[]> {
  const { callable, serverName, serverToolName, args, signal, timeout, clock } = call;
  if (signal?.aborted) throw cancelled(call);
  const calls = [{ name: serverToolName, args }];
  const stop = new AbortController();
  const ends: (() => void)[] = [];
  const ended = new Promise<never>((_, reject) => {
    const end = (error: HostError): void => {
      reject(error);
      stop.abort();
    };
    const leave = (): void => end(cancelled(call));
    signal?.addEventListener("abort", leave, { once: true });
    ends.push(() => signal?.removeEventListener("abort", leave));
    if (timeout) ends.push(clock.after(timeout, () => end(late(call, timeout))));
  });
  try {
    const answer = isCancellable(callable) ? callable.callUntil(calls, stop.signal) : callable.callTool(calls);
    const parts: unknown = await Promise.race([answer, ended]);
    if (isParts(parts)) return parts;
    throw new HostError("protocol", `${serverName}.${serverToolName} did not return a list of parts`, { serverName });
  } catch (error) {
    throw inSeedWords(error);
  } finally {
    for (const end of ends) end();
  }
}

function isCancellable(callable: CallableTool): callable is CancellableTool {
  return "callUntil" in callable;
}

/** Checks the returned value, because a program's own `CallableTool` may return anything. */
function isParts(answer: unknown): answer is Part[] {
  return Array.isArray(answer) && answer.every((part) => typeof part === "object" && part !== null);
}

/** The words that programs written for Gemini CLI look for in an error's message. */
const words: ReadonlyMap<HostError["code"], string> = new Map([
  ["call_timeout", "timeout"],
  ["auth_required", "unauthorized"],
  ["auth_failed", "unauthorized"],
  ["denied", "permission denied"],
]);

/** Returns the error with the word that such a program looks for at the beginning of its message. */
function inSeedWords(error: unknown): unknown {
  const word = error instanceof HostError ? words.get(error.code) : undefined;
  if (!(error instanceof HostError) || word === undefined || error.message.includes(word)) return error;
  const { code, message, serverName, next, evidence } = error;
  return new HostError(code, `${word}: ${message}`, { cause: error, serverName, next, evidence });
}

function late({ serverName, serverToolName }: CallableCall, timeout: number): HostError {
  const message = `timeout: ${serverName}.${serverToolName} gave no result within ${timeout} ms; the request may or may not have run`;
  return new HostError("call_timeout", message, { serverName, next: "Give the tool a longer timeout." });
}

function cancelled({ serverName, serverToolName }: CallableCall): HostError {
  return new HostError("cancelled", `${serverName}.${serverToolName} was cancelled`, { serverName });
}
