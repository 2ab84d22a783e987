/** Runs `read_result`, the function with which a model reads a stored result. */

import type { JsonObject } from "@fairlead/wire";
import { errorMessage } from "@fairlead/wire/text";
import type { Clock } from "../clock.ts";
import { HostError } from "../errors.ts";
import { startLimitedThread } from "../execute/limited-thread.ts";
import { asUntrusted, createNonce } from "../normalise/content/untrusted.ts";
import type { ToolExecution } from "../server/registered-tool.ts";
import { toModelText } from "../text/model-text.ts";
import type { ResultHandles } from "./result-handles.ts";
import type { QueryOutcome, ResultQuery, SelectedLines } from "./result-query.ts";
import type { ResultJob } from "./result-worker.ts";

/** The stored results that the model may read, and the size limit of the answer. */
interface ReadResultOptions extends QueryOptions {
  readonly results: Pick<ResultHandles, "find">;
  /** Receives the name of the server that returned the stored result. */
  readonly onServer: (server: string) => void;
  /** Maximum size of the text for the model, in estimated tokens. */
  readonly tokens: number;
}

const longestText = 1_000;

/**
 * Reads the part of a stored result that the model asks for.
 *
 * @throws HostError `not_found`, `arguments_invalid` or `too_large`
 */
export async function readResult(args: JsonObject, options: ReadResultOptions): Promise<ToolExecution> {
  const { handle } = args;
  if (typeof handle !== "string") throw new HostError("arguments_invalid", 'handle must be a text: "result://ID"');
  const query = toQuery(args, options.tokens);
  const { path, server } = await options.results.find(handle);
  if (server !== undefined) options.onServer(server);
  const { text, first, last, total } = await runQuery({ path, query }, options);
  const unit = query.grep === undefined ? "lines" : "matching lines";
  if (first === 0) return { llmContent: [{ text: `[none of ${total} ${unit}]` }], returnDisplay: `no ${unit}` };
  const where = `${unit} ${first} to ${last} of ${total}`;
  const next = last < total ? `; the next: from ${last + 1}` : "";
  return {
    llmContent: [{ text: `[${where}${next}]` }, ...asUntrusted([{ text: toModelText(text) }], createNonce())],
    returnDisplay: where,
  };
}

function toQuery(args: JsonObject, tokens: number): ResultQuery {
  const [from, lines] = [numberIn(args, "from"), numberIn(args, "lines")];
  const [grep, jmespath] = [textIn(args, "grep"), textIn(args, "jmespath")];
  if (grep !== undefined && jmespath !== undefined)
    throw new HostError("arguments_invalid", 'give "grep" or "jmespath", not both');
  return {
    tokens,
    from,
    lines: lines === undefined ? undefined : Math.max(1, lines),
    grep,
    jmespath,
  };
}

/** Whether an argument counts as omitted. Some models send `null` or an empty text instead of omitting it. */
function isAbsent(value: unknown): value is undefined | null | "" {
  return value === undefined || value === null || value === "";
}

function numberIn(args: JsonObject, key: string): number | undefined {
  const value = args[key];
  if (isAbsent(value)) return undefined;
  const number = typeof value === "string" ? Number(value) : value;
  if (!Number.isSafeInteger(number)) throw new HostError("arguments_invalid", `${key} must be a whole number`);
  return Number(number);
}

function textIn(args: JsonObject, key: string): string | undefined {
  const value = args[key];
  if (isAbsent(value)) return undefined;
  if (typeof value !== "string" || value.length > longestText)
    throw new HostError("arguments_invalid", `${key} must be a string of at most ${longestText} characters`);
  return value;
}

/** The clock for the time limit, and the signal that cancels the query. */
interface QueryOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The time limit in milliseconds for starting the thread, reading the file and selecting lines. */
const plainLimit = 30_000;
/** The time limit in milliseconds for a JMESPath expression or a text search. */
const queryLimit = 5_000;
const memoryMegabytes = 512;

/** The file that the worker thread runs. A worker thread cannot run TypeScript, so this is always a compiled file. */
const workerFile: URL = new URL(
  import.meta.url.endsWith(".ts") ? "../../build/results/result-worker.js" : "./result-worker.js",
  import.meta.url,
);

/**
 * Runs the query.
 *
 * @throws HostError `arguments_invalid` or `too_large`; if the signal is aborted, the signal's reason
 */
async function runQuery(job: ResultJob, { clock, signal }: QueryOptions): Promise<SelectedLines> {
  signal.throwIfAborted();
  const worker = startLimitedThread(workerFile, memoryMegabytes, undefined, job);
  const isPlain = job.query.grep === undefined && job.query.jmespath === undefined;
  let stopTimer = (): void => undefined;
  let leave = (): void => undefined;
  try {
    return await new Promise<SelectedLines>((resolve, reject) => {
      const limit = (milliseconds: number): void => {
        stopTimer();
        stopTimer = clock.after(milliseconds, () => reject(notRead(`the query took longer than ${milliseconds} ms`)));
      };
      leave = () => reject(signal.reason);
      signal.addEventListener("abort", leave, { once: true });
      limit(plainLimit);
      worker.on("message", (message: "ready" | QueryOutcome) => {
        if (message === "ready") return limit(isPlain ? plainLimit : queryLimit);
        if (message.kind === "selected") return resolve(message);
        reject(new HostError(message.code, message.message));
      });
      worker.on("error", (error) => reject(notRead(reasonOf(error))));
      worker.on("exit", () => reject(notRead("the worker thread ended without a result")));
    });
  } finally {
    stopTimer();
    signal.removeEventListener("abort", leave);
    await worker.terminate();
  }
}

function notRead(reason: string): HostError {
  return new HostError("too_large", `the result was not read: ${reason}`);
}

function reasonOf(error: unknown): string {
  const isMemory = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
  return isMemory ? "the query needed too much memory" : errorMessage(error).slice(0, 200);
}
