/** Formats the results of `lock`, `lock update` and `lock verify` as text and as JSON. */

import { compareLock, type LockDrift } from "@fairlead/core/policy/lock/lock-drift";
import type { LockFile } from "@fairlead/core/policy/lock/lock-file";
import { type Difference, definitionDigest, differenceOf } from "@fairlead/core/server/tool-changes";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import {
  breakingDrift,
  errorOf,
  type LockCheck,
  type LockWorkspace,
  type ServerSnapshot,
} from "../../lock/workspace.ts";
import type { Context } from "../../shell/verb.ts";
import { count, errorDocument, errorLines } from "../output.ts";
import { differenceLines } from "./rule-lines.ts";

/**
 * The changed members of each tool, by tool name. Tools are left out if the catalog cache lacks their locked
 * definition.
 */
type ToolDifferences = ReadonlyMap<string, readonly Difference[]>;

/**
 * Compares the tools with their locked definitions. Reads the locked definitions from the catalog cache, because the
 * lock file has only digests.
 */
function toolDifferences(
  { server, tools }: LockDrift,
  lock: LockFile,
  look: ServerSnapshot | undefined,
): ToolDifferences {
  if (look?.kind !== "seen") return new Map();
  const { catalog, remembered } = look;
  const differences = tools.changed.flatMap((name) => {
    const digest = lock.get(server)?.tools.get(name);
    const before = remembered?.tools.find((tool) => tool.name === name && definitionDigest(tool) === digest);
    const after = catalog.tools.find((tool) => tool.name === name);
    return before && after ? [[name, differenceOf(before, after)] as const] : [];
  });
  return new Map(differences);
}

/** Returns the differences as text, indented so that it can follow the server's name. */
function driftText(drift: LockDrift, differences: ToolDifferences): SafeText {
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

function driftDocument({ kind, members, tools, prompts }: LockDrift, differences: ToolDifferences): object {
  const changed = tools.changed.map((name) => {
    const difference = differences.get(name);
    return { name, difference };
  });
  return { kind, members, tools: { ...tools, changed }, prompts };
}

/** Returns how many tools and prompts a catalog has, such as `9 tools, 1 prompt`. */
function catalogWords({ tools, prompts }: { readonly tools: Sized; readonly prompts: Sized }): SafeText {
  const parts = [count(tools.size, "tool"), ...(prompts.size > 0 ? [count(prompts.size, "prompt")] : [])];
  return joinSafe(parts, safe`, `);
}

interface Sized {
  readonly size: number;
}

interface Relock {
  readonly before: LockFile;
  readonly state: "written" | "unchanged";
  readonly looks: ReadonlyMap<string, ServerSnapshot>;
  /** The server that the user named. Undefined if the command is about all servers. */
  readonly only: string | undefined;
}

/** Prints which servers were locked, and how each differs from the previous lock file. */
export function printRelock(
  { before, state, looks, only }: Relock,
  { file, entries }: LockWorkspace,
  { out, globals }: Pick<Context, "out" | "globals">,
): void {
  const locked = [...looks].flatMap(([name, look]) => (look.kind === "seen" ? [{ name, catalog: look.locked }] : []));
  const present = locked.map(({ name, catalog }) => [name, { entry: entries.get(name) ?? {}, catalog }] as const);
  const concerned = new Map([...before].filter(([name]) => only === undefined || name === only));
  const drifts = compareLock(concerned, new Map(present));
  const differences = (drift: LockDrift): ToolDifferences => toolDifferences(drift, before, looks.get(drift.server));
  if (globals.json) {
    const servers = locked.map(({ name, catalog: { version, tools, prompts } }) => {
      return { name, version, tools: tools.size, prompts: prompts.size };
    });
    const changes = drifts.map((drift) => ({ name: drift.server, ...driftDocument(drift, differences(drift)) }));
    out.json({ file, state, servers, changes });
    return;
  }
  for (const { name, catalog } of locked) out.show(safe`${toSafeLine(name)}: ${catalogWords(catalog)}`);
  for (const drift of drifts) {
    const name = toVisibleLine(drift.server);
    if (drift.kind === "changed")
      out.show(safe`${name} locked again with these changes:\n${driftText(drift, differences(drift))}`);
    if (drift.kind === "removed") out.show(safe`${name} removed from the lock file: it is no longer in the settings`);
  }
  out.say(state === "written" ? safe`wrote ${toSafeLine(file)}` : safe`${toSafeLine(file)} is up to date`);
}

/** Formats how one server compares with the lock file. */
export function checkedText(checked: LockCheck): SafeText {
  const { drift, look, isWithheld } = checked;
  const name = toVisibleLine(checked.name);
  const error = errorOf(checked);
  return joinSafe([
    ...(drift ? [safe`${name}: ${driftWords[drift.kind]}${isWithheld ? safe`; it was not started` : safe``}`] : []),
    ...(drift?.kind === "changed" ? [driftText(drift, differences(checked, drift)), breakingText(checked)] : []),
    ...(error ? [safe`${name}: cannot be checked: ${errorLines(error)}`] : []),
    ...(drift === undefined && look?.kind === "seen"
      ? [safe`${name}: matches the lock file (${catalogWords(look.locked)})`]
      : []),
  ]);
}

function breakingText(checked: LockCheck): SafeText {
  const breaking = breakingDrift(checked);
  if (breaking.length === 0) return safe`  no breaking change`;
  return joinSafe(breaking.map((change) => safe`  breaking: ${toSafeLine(change)}`));
}

const driftWords: Readonly<Record<LockDrift["kind"], SafeText>> = {
  added: safe`in the settings, but not locked`,
  removed: safe`locked, but no longer in the settings`,
  changed: safe`differs from the lock file`,
};

function differences({ lock, look }: LockCheck, drift: LockDrift): ToolDifferences {
  return toolDifferences(drift, lock, look);
}

/** Returns the JSON of how one server compares with the lock file. */
export function checkedDocument(checked: LockCheck): object {
  const { name, drift, isWithheld } = checked;
  const error = errorOf(checked);
  const state = drift ? "drifted" : error ? "unchecked" : "as_locked";
  return {
    name,
    state,
    ...(drift && driftDocument(drift, differences(checked, drift))),
    breaking: drift && breakingDrift(checked),
    started: isWithheld ? false : undefined,
    error: error && errorDocument(error),
  };
}
