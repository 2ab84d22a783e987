/** Watches the processes that a test starts and, on Linux, the processes that those have started. */

import { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { isRunning } from "../process-list.ts";
import { currentScope, type Scope, watch } from "./scope.ts";
import { seeCalls } from "./wrap.ts";

/** The ids of the processes that each scope has started. */
const startedBy = new WeakMap<Scope, Set<number>>();
/** All of them. */
const watched = new Set<number>();
const ownChildren = `/proc/${process.pid}/task/${process.pid}/children`;

export function watchProcesses(): void {
  seeCalls(ChildProcess.prototype, "spawn", (child) => {
    const scope = currentScope();
    if (!(child instanceof ChildProcess) || child.pid === undefined) return;
    const { pid } = child;
    watched.add(pid);
    if (scope === undefined) return;
    startedIn(scope).add(pid);
    watch({
      describe: () => `a process: ${pid} ${oneLine(child.spawnargs.join(" "))}`,
      isOver: () => child.exitCode !== null || child.signalCode !== null,
      endsLater: true,
    });
  });
}

/**
 * Returns the child processes of this worker that `node:child_process` does not know, such as those of a
 * pseudo-terminal.
 */
export function otherChildren(): ReadonlySet<number> {
  const pids = contentOf(ownChildren).split(" ").filter(Boolean).map(Number);
  return new Set(pids.filter((pid) => !watched.has(pid)));
}

/**
 * Returns the remaining processes of the process groups and sessions that a scope has started, and of those in `more`.
 */
export function descendants(scope: Scope, more: Iterable<number>): readonly number[] {
  const leaders = new Set([...(startedBy.get(scope) ?? []), ...more]);
  if (leaders.size === 0 || process.platform !== "linux") return [];
  const first = Math.min(...leaders);
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > first && !leaders.has(pid))
    .filter((pid) => {
      const [group, session] = groupAndSession(pid);
      return (leaders.has(group) || leaders.has(session)) && isRunning(pid);
    });
}

export function commandLine(pid: number): string {
  return `${pid} ${oneLine(contentOf(`/proc/${pid}/cmdline`).replaceAll("\0", " "))}`;
}

/** Shortens a command line, because a shell's script can be long. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim().slice(0, 160);
}

function startedIn(scope: Scope): Set<number> {
  const started = startedBy.get(scope) ?? new Set();
  startedBy.set(scope, started);
  return started;
}

function groupAndSession(pid: number): readonly [number, number] {
  const stat = contentOf(`/proc/${pid}/stat`);
  const [, , group, session] = stat.slice(stat.lastIndexOf(") ") + 2).split(" ");
  return [Number(group), Number(session)];
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
