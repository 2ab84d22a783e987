/** Differences between a server and the lock file, as text and as JSON. */

import { type Difference, definitionDigest, differenceOf } from "@fairlead/core/discover/tool-changes";
import type { HostError } from "@fairlead/core/errors";
import type { LockDrift } from "@fairlead/core/policy/lock/lock-drift";
import type { LockFile } from "@fairlead/core/policy/lock/lock-file";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { ServerSnapshot } from "../../lock/server-snapshot.ts";
import { count } from "../output.ts";
import { differenceLines } from "./difference-lines.ts";

/** Changed members of each tool, by tool name. A tool whose locked definition is no longer cached is missing. */
export type ToolDifferences = ReadonlyMap<string, readonly Difference[]>;

/** The lock file holds digests only, so the locked definition comes from the catalog cache, if it is still there. */
export function toolDifferences(
  { server, tools }: LockDrift,
  lock: LockFile,
  look: ServerSnapshot | undefined,
): ToolDifferences {
  if (look?.kind !== "seen") return new Map();
  const { catalog, remembered } = look;
  const known = tools.changed.flatMap((name) => {
    const digest = lock.get(server)?.tools.get(name);
    const before = remembered?.tools.find((tool) => tool.name === name && definitionDigest(tool) === digest);
    const after = catalog.tools.find((tool) => tool.name === name);
    return before && after ? [[name, differenceOf(before, after)] as const] : [];
  });
  return new Map(known);
}

/** The differences as text, indented to follow the server's name. */
export function driftText(drift: LockDrift, differences: ToolDifferences): SafeText {
  const { members, tools, prompts } = drift;
  const digests = members.filter(({ member }) => member === "instructions");
  return joinSafe([
    ...differenceLines(
      members.filter((member) => !digests.includes(member)),
      safe`  `,
    ),
    ...digests.map(({ before, after }) => safe`  instructions ${change(before, after)}`),
    ...tools.added.map((name) => safe`  tool added: ${toVisibleLine(name)}`),
    ...tools.removed.map((name) => safe`  tool removed: ${toVisibleLine(name)}`),
    ...tools.changed.flatMap((name) => [
      safe`  tool changed: ${toVisibleLine(name)}`,
      ...differenceLines(differences.get(name) ?? [], safe`    `),
    ]),
    ...prompts.added.map((name) => safe`  prompt added: ${toVisibleLine(name)}`),
    ...prompts.removed.map((name) => safe`  prompt removed: ${toVisibleLine(name)}`),
    ...prompts.changed.map((name) => safe`  prompt changed: ${toVisibleLine(name)}`),
  ]);
}

function change(before: string | undefined, after: string | undefined): SafeText {
  if (before === undefined) return safe`added`;
  return after === undefined ? safe`removed` : safe`changed`;
}

export function driftDocument({ kind, members, tools, prompts }: LockDrift, differences: ToolDifferences): object {
  const changed = tools.changed.map((name) => {
    const difference = differences.get(name);
    return { name, ...(difference && { difference }) };
  });
  return { kind, members, tools: { ...tools, changed }, prompts };
}

/** `9 tools`, `9 tools, 1 prompt`. */
export function offerWords({ tools, prompts }: { readonly tools: Sized; readonly prompts: Sized }): SafeText {
  const parts = [count(tools.size, "tool"), ...(prompts.size > 0 ? [count(prompts.size, "prompt")] : [])];
  return joinSafe(parts, safe`, `);
}

/** The error message, and its next step on a second line. */
export function errorLines({ message, next }: Pick<HostError, "message" | "next">): SafeText {
  const lines = [toSafeLine(message), ...(next === undefined ? [] : [safe`  next: ${toSafeLine(next)}`])];
  return joinSafe(lines);
}

interface Sized {
  readonly size: number;
}
