/** Prints the servers that were locked, and how each differs from the previous lock file. */

import { compareLock, type LockDrift } from "@fairlead/core/policy/lock/lock-drift";
import type { LockFile } from "@fairlead/core/policy/lock/lock-file";
import { safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { ServerSnapshot } from "../../lock/server-snapshot.ts";
import type { LockWorkspace } from "../../lock/workspace.ts";
import type { Context } from "../../shell/verb.ts";
import { driftDocument, driftText, offerWords, type ToolDifferences, toolDifferences } from "./lock-report.ts";

interface Relock {
  readonly before: LockFile;
  readonly state: "written" | "unchanged";
  readonly looks: ReadonlyMap<string, ServerSnapshot>;
  /** The server that was named; undefined: all. */
  readonly only: string | undefined;
}

export function printRelock(
  { before, state, looks, only }: Relock,
  { file, entries }: LockWorkspace,
  { out, globals }: Pick<Context, "out" | "globals">,
): void {
  const locked = [...looks].flatMap(([name, look]) => (look.kind === "seen" ? [{ name, offer: look.offer }] : []));
  const present = locked.map(({ name, offer }) => [name, { entry: entries.get(name) ?? {}, offer }] as const);
  const concerned = new Map([...before].filter(([name]) => only === undefined || name === only));
  const drifts = compareLock(concerned, new Map(present));
  const differences = (drift: LockDrift): ToolDifferences => toolDifferences(drift, before, looks.get(drift.server));
  if (globals.json) {
    const servers = locked.map(({ name, offer: { version, tools, prompts } }) => {
      return { name, version, tools: tools.size, prompts: prompts.size };
    });
    const changes = drifts.map((drift) => ({ name: drift.server, ...driftDocument(drift, differences(drift)) }));
    out.json({ file, state, servers, changes });
    return;
  }
  for (const { name, offer } of locked) out.print(safe`${toSafeLine(name)}: ${offerWords(offer)}`);
  for (const drift of drifts) {
    const name = toVisibleLine(drift.server);
    if (drift.kind === "changed")
      out.print(safe`${name} locked again with these changes:\n${driftText(drift, differences(drift))}`);
    if (drift.kind === "removed") out.print(safe`${name} removed from the lock file: the settings no longer have it`);
  }
  out.say(state === "written" ? safe`wrote ${toSafeLine(file)}` : safe`${toSafeLine(file)} is up to date`);
}
