/** Checks what is left at the end of a test and at the end of a file. */

import { writtenAfterRemoval } from "./folders.ts";
import { commandLine, descendants, otherChildren, watchProcesses } from "./processes.ts";
import {
  currentScope,
  handToFile,
  liveScope,
  newScope,
  type Record,
  runInScope,
  type Scope,
  setFileScope,
} from "./scope.ts";
import { watchSockets } from "./sockets.ts";
import { watchThreads } from "./threads.ts";
import { realSetTimeout, watchTimers } from "./timers.ts";
import { watchWatchers } from "./watchers.ts";

/** Number of event-loop turns that a promise or a socket may need to end. */
const turns = 10;
/**
 * Milliseconds that the system may take to end a process or a connection: long, because a busy machine may not run an
 * ending process for a second. Only a failing test waits this long. The variable `GUARD_WAIT` replaces it in the guard's own
 * tests.
 */
const usualWait = 20_000;
/** Milliseconds between two looks at what is left: the first pause, and the longest one. */
const pauses = { first: 2, longest: 50 };
const ownFrame = /[/\\]test-servers[/\\]src[/\\]guard[/\\]|Object[.]apply/;
let isInstalled = false;
const running = new Set<Scope>();

/** A test file that is being run. */
interface RunningFile {
  readonly scope: Scope;
  readonly children: ReadonlySet<number>;
}

export function beginFile(): RunningFile {
  if (!isInstalled) {
    isInstalled = true;
    watchTimers();
    watchSockets();
    watchProcesses();
    watchThreads();
    watchWatchers();
  }
  const scope = newScope("the file");
  setFileScope(scope);
  process.on("unhandledRejection", noteRejection);
  process.on("uncaughtException", noteException);
  return { scope, children: otherChildren() };
}

export async function runTest(name: string, run: () => Promise<void>): Promise<void> {
  const scope = newScope(name);
  const before = otherChildren();
  running.add(scope);
  try {
    await runInScope(scope, run);
    await checkLeaks(scope, () => (running.size === 1 ? newChildren(before) : []));
  } finally {
    scope.isEnded = true;
    running.delete(scope);
  }
}

export async function endFile({ scope, children }: RunningFile): Promise<void> {
  try {
    await checkLeaks(scope, () => newChildren(children));
    const files = writtenAfterRemoval();
    if (files.length > 0) throw new AggregateError(files.map((text) => leftover(text)));
  } finally {
    process.off("unhandledRejection", noteRejection);
    process.off("uncaughtException", noteException);
    setFileScope(undefined);
  }
}

async function checkLeaks(scope: Scope, unwatchedChildren: () => readonly number[]): Promise<void> {
  const isLeft = (record: Record): boolean => !record.isOver(record.origin);
  const left = () => [...scope.records].filter(isLeft);
  await turn();
  for (let count = 1; count < turns && left().length > 0; count += 1) await turn();
  handToFile(scope);
  const stuck = left().filter(({ endsLater }) => !endsLater);
  let others: readonly Record[] = [];
  let pids: readonly number[] = [];
  const deadline = performance.now() + (Number(process.env["GUARD_WAIT"]) || usualWait);
  for (let pause = pauses.first; ; pause = Math.min(pause + 1, pauses.longest)) {
    // A shared client's connection is idle only when the server has ended its answer.
    handToFile(scope);
    others = left().filter(({ endsLater }) => endsLater);
    const children = unwatchedChildren();
    pids = [...children, ...descendants(scope, children)];
    if (others.length + pids.length === 0 || performance.now() > deadline) break;
    await new Promise<void>((resolve) => realSetTimeout(resolve, pause));
  }
  const problems = [
    ...scope.errors,
    ...[...stuck, ...others].map((record) => leftover(record.describe(), record.origin)),
    ...pids.map((pid) => leftover(`a process: ${commandLine(pid)}`)),
  ];
  scope.records.clear();
  if (problems.length === 0) return;
  scope.isReported = true;
  throw new AggregateError(problems);
}

function newChildren(before: ReadonlySet<number>): readonly number[] {
  return [...otherChildren()].filter((pid) => !before.has(pid));
}

/** Creates the error for a leftover, with the stack of the place where the leftover was created. */
function leftover(what: string, origin?: Error): Error {
  const error = new Error(`left behind: ${what}`);
  if (origin?.stack === undefined) return error;
  const frames = origin.stack.split("\n").slice(1);
  error.stack = [`Error: ${error.message}`, ...frames.filter((frame) => !ownFrame.test(frame))].join("\n");
  return error;
}

function noteRejection(reason: unknown): void {
  note("an unhandled rejection", reason);
}

function noteException(reason: unknown): void {
  note("an uncaught exception", reason);
}

/**
 * Handles unhandled errors. Node runs this in the context of the promise, so the scope is that of the test that created
 * it.
 */
function note(what: string, reason: unknown): void {
  const scope = currentScope();
  const culprit = scope?.isEnded ? ` (of "${scope.name}", which has ended)` : "";
  const error = new Error(`left behind: ${what}${culprit}: ${String(reason)}`, { cause: reason });
  if (reason instanceof Error && reason.stack !== undefined)
    error.stack = `Error: left behind: ${what}${culprit}: ${reason.stack}`;
  if (scope !== undefined && !scope.isReported) liveScope(scope).errors.push(error);
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
