/** Runs `read_result`, the function with which a model reads a stored result. */

import type { JsonObject } from "@fairlead/wire";
import { HostError } from "../errors.ts";
import { asUntrusted, createNonce } from "../normalise/content/untrusted.ts";
import type { ToolExecution } from "../registry/binding.ts";
import { toModelText } from "../text/model-text.ts";
import type { ResultHandles } from "./result-handles.ts";
import type { ResultQuery } from "./result-query.ts";
import { type QueryOptions, runQuery } from "./run-query.ts";

/** The stored results that the model may read, and the size limit of the answer. */
export interface ReadResultOptions extends QueryOptions {
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
