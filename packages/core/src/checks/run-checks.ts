/** Runs the checks of one file against a server: first the list of tools, then each tool call in the file's order. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, parseObject } from "@fairlead/wire/json";
import type { Clock } from "../clock.ts";
import type { Redact } from "../connect/redact.ts";
import { HostError } from "../errors.ts";
import type { Validator } from "../execute/validation/validator.ts";
import { readText } from "../files/read-text.ts";
import { notRead } from "../files/system-error.ts";
import type { CatalogTool } from "../server/catalog.ts";
import { canonicalJson } from "../text/canonical-json.ts";
import { isSameJson } from "../text/same-json.ts";
import type { CallCheck, CheckFile } from "./check-file.ts";
import { type CheckedResult, compareResult, differences, schemaProblems } from "./compare-result.ts";
import { type Mask, toSnapshot } from "./masks.ts";

export interface CheckedServer {
  readonly tools: readonly CatalogTool[];
  /** Calls a tool. If the request fails, resolves with an `isError` result; rejects only if it was cancelled. */
  call(tool: string, args: JsonObject): Promise<CheckedResult>;
  /** Returns the names of the server's tools, prompts and resources. Asks the server each time. */
  listing(): Promise<readonly string[]>;
  /** Replaces the server's secrets in a text. */
  readonly redact: Redact;
  /** True if the setting `hideResults` is set. Then snapshots and reports must not contain results. */
  readonly hidesResults: boolean;
}

/** The outcome of one check. `problems` is empty if it passed. */
export interface CheckOutcome {
  readonly name: string;
  readonly status: "passed" | "failed" | "updated";
  readonly tool?: string;
  readonly durationMs: number;
  readonly problems: readonly string[];
}

/** The name of the check that compares the list of tools. */
const toolsCheck = "tools";
/** A shorter baseline counts as this many milliseconds, because the clock cannot measure it exactly. */
const shortestBaseline = 1;

/** Runs all checks, also after one has failed. Calls `onOutcome` after each, and returns all outcomes in order. */
export async function runChecks(
  file: CheckFile,
  server: CheckedServer,
  {
    snapshots,
    validator,
    clock,
    onOutcome,
  }: {
    readonly snapshots: Snapshots;
    readonly validator: Pick<Validator, "validate">;
    readonly clock: Clock;
    readonly onOutcome?: (outcome: CheckOutcome) => void;
  },
): Promise<readonly CheckOutcome[]> {
  const outcomes: CheckOutcome[] = [];
  const durations = new Map<string, number>();

  function report(outcome: Omit<CheckOutcome, "status">, isUpdated: boolean): void {
    const status = outcome.problems.length > 0 ? "failed" : isUpdated ? "updated" : "passed";
    outcomes.push({ ...outcome, status });
    onOutcome?.({ ...outcome, status });
  }

  function compareSnapshot(
    name: string,
    value: unknown,
    masks: readonly Mask[],
  ): { readonly problems: readonly string[]; readonly isUpdated: boolean } {
    if (server.hidesResults)
      return { problems: ["snapshots are off for this server: hideResults is set"], isUpdated: false };
    const now = toSnapshot(value, server.redact, masks);
    return snapshots.compare(name, now, (before) => differences("result", before, now));
  }

  if (file.tools !== undefined) {
    const began = clock.now();
    const problems = toolProblems(file.tools, server.tools);
    const compared = file.tools.snapshot
      ? compareSnapshot(toolsCheck, Object.fromEntries(server.tools.map((tool) => [tool.name, definition(tool)])), [])
      : undefined;
    const durationMs = clock.now() - began;
    report(
      { name: toolsCheck, durationMs, problems: [...problems, ...(compared?.problems ?? [])] },
      compared?.isUpdated ?? false,
    );
  }

  for (const check of file.checks) {
    const { name, call, expect, masks } = check;
    const hasReadOnlyHint = server.tools.find((tool) => tool.name === call)?.annotations?.["readOnlyHint"] === true;
    const before = hasReadOnlyHint ? await server.listing() : [];
    const began = clock.now();
    const result = await server.call(call, check.arguments);
    const durationMs = clock.now() - began;
    durations.set(name, durationMs);
    const compared = expect.snapshot === true ? compareSnapshot(name, snapshotOf(result), masks) : undefined;
    const unlike = [
      ...compareResult(result, expect),
      ...(expect.schema === undefined ? [] : await schemaProblems(expect.schema, result, validator)),
    ];
    const problems = [
      // The differences quote the result, and a report may be written to a file.
      ...(server.hidesResults && unlike.length > 0
        ? ["the result differs from the expectation; the details are hidden because hideResults is set"]
        : unlike),
      ...(compared?.problems ?? []),
      ...latencyProblems(check, durations),
      ...(hasReadOnlyHint ? readOnlyProblems(call, before, await server.listing()) : []),
    ];
    report({ name, tool: call, durationMs, problems: problems.map(server.redact) }, compared?.isUpdated ?? false);
  }
  return outcomes;
}

function toolProblems({ include, exact }: NonNullable<CheckFile["tools"]>, tools: readonly CatalogTool[]): string[] {
  const names = tools.map(({ name }) => name);
  const missing = include.filter((name) => !names.includes(name));
  const others = exact ? names.filter((name) => !include.includes(name)) : [];
  return [
    ...missing.map((name) => `the tool "${name}" is missing`),
    ...others.map((name) => `the tool "${name}" is not expected`),
  ];
}

function definition({ description, inputSchema, outputSchema, annotations }: CatalogTool): JsonObject {
  return { description, inputSchema, outputSchema, annotations };
}

function latencyProblems({ name, expect }: CallCheck, durations: ReadonlyMap<string, number>): readonly string[] {
  if (expect.latency === undefined) return [];
  const { baseline, ratio } = expect.latency;
  const [own, other] = [durations.get(name) ?? 0, Math.max(durations.get(baseline) ?? 0, shortestBaseline)];
  if (own <= ratio * other) return [];
  return [`the call took ${(own / other).toFixed(1)} times as long as "${baseline}", expected at most ${ratio}`];
}

/** A tool with `readOnlyHint` must not change the server's lists. */
function readOnlyProblems(tool: string, before: readonly string[], now: readonly string[]): readonly string[] {
  const added = now.filter((name) => !before.includes(name));
  const removed = before.filter((name) => !now.includes(name));
  if (added.length + removed.length === 0) return [];
  const change = [...added.map((name) => `added ${name}`), ...removed.map((name) => `removed ${name}`)].join(", ");
  return [`"${tool}" has the annotation readOnlyHint, but the call changed the server's lists: ${change}`];
}

function snapshotOf({ content, structuredContent, isError }: CheckedResult): JsonObject {
  return {
    isError: isError ? true : undefined,
    content: content.map((block) => ("data" in block ? { ...block, data: `<${sizeOf(block.data)} bytes>` } : block)),
    structuredContent,
  };
}

function sizeOf(base64: unknown): number {
  return typeof base64 === "string" ? Buffer.from(base64, "base64").length : 0;
}

const largestFile = 16 * 1024 * 1024;

/** Returns the path of the snapshot file (for example `a.snap.json` for `a.yaml`). */
export function snapshotPath(file: string): string {
  return `${file.replace(/\.(?:ya?ml|json)$/i, "")}.snap.json`;
}

/**
 * Reads a snapshot file. A missing file counts as empty.
 *
 * @throws HostError `settings_invalid` if the file is not a snapshot file, `internal` if it cannot be read
 */
export async function loadSnapshots(file: string, update: boolean): Promise<Snapshots> {
  const found = await readText(file, largestFile);
  if (found.kind === "unreadable") throw notRead(file, found.reason, found.cause);
  const document = found.kind === "absent" ? { snapshots: {} } : parseObject(found.text);
  if (!isObject(document?.["snapshots"]))
    throw new HostError(
      "settings_invalid",
      `${file} is not a snapshot file: it is not a JSON object with the member "snapshots"`,
      { next: "Restore the committed file, or delete it and run: fairlead test FILE --update" },
    );
  return new Snapshots(document["snapshots"], update);
}

/** The snapshots of one file of checks, in memory. Nothing is written to a file. */
export class Snapshots {
  readonly #kept: Map<string, unknown>;
  readonly #update: boolean;
  #isChanged = false;

  constructor(before: Readonly<Record<string, unknown>>, update: boolean) {
    this.#kept = new Map(Object.entries(before));
    this.#update = update;
  }

  /** Compares a value with its snapshot. With `--update`, stores the value if it differs or has no snapshot. */
  compare(
    name: string,
    value: unknown,
    describe: (before: unknown) => readonly string[],
  ): { readonly problems: readonly string[]; readonly isUpdated: boolean } {
    const snapshot = this.#kept.get(name);
    const isKept = this.#kept.has(name);
    if (isKept && isSameJson(snapshot, value)) return { problems: [], isUpdated: false };
    if (!this.#update) {
      const problems = isKept ? describe(snapshot) : ["there is no snapshot yet: run the command again with --update"];
      return { problems, isUpdated: false };
    }
    this.#kept.set(name, value);
    this.#isChanged = true;
    return { problems: [], isUpdated: true };
  }

  /** Returns the new text of the snapshot file, or undefined if nothing has changed. */
  changedText(): string | undefined {
    if (!this.#isChanged) return undefined;
    const sorted: unknown = JSON.parse(canonicalJson(Object.fromEntries(this.#kept)));
    return `${JSON.stringify({ schemaVersion: 1, snapshots: sorted }, undefined, 2)}\n`;
  }
}
