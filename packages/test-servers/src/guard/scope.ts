/**
 * Knows which test created a resource. Each test has a scope, and so has its file. Everything that a test starts runs
 * in the test's scope.
 */

import { AsyncLocalStorage } from "node:async_hooks";

/** A resource that must have ended when its scope ends. */
export interface Record {
  /** Returns the name of the resource, for the message. */
  describe(): string;
  isOver(origin: Error): boolean;
  /**
   * Whether the resource may belong to something that the whole file shares. If so, it is checked at the end of the
   * file.
   */
  mayBeShared?(): boolean;
  /**
   * Whether the operating system ends the resource, which takes a moment of real time. A timer gets no such time,
   * because it would only fire.
   */
  readonly endsLater: boolean;
  /** An error whose stack shows where the resource was created. */
  readonly origin: Error;
}

export interface Scope {
  readonly name: string;
  readonly records: Set<Record>;
  readonly errors: Error[];
  isEnded: boolean;
  /** Whether the guard has already reported a leftover of this scope. Later leftovers are not reported again. */
  isReported: boolean;
}

const scopes = new AsyncLocalStorage<Scope>();
let ofFile: Scope | undefined;
/** When a scope has this many records, the records that have ended are removed. */
const manyRecords = 5000;

export function newScope(name: string): Scope {
  return { name, records: new Set(), errors: [], isEnded: false, isReported: false };
}

/** Sets the scope of the test file. From now on, everything that no test creates belongs to it. */
export function setFileScope(scope: Scope | undefined): void {
  ofFile = scope;
}

/** Returns the scope of the code that runs now; undefined if no guard watches. */
export function currentScope(): Scope | undefined {
  return ofFile === undefined ? undefined : (scopes.getStore() ?? ofFile);
}

/** Returns the scope to use. What a test does after its end belongs to the file. */
export function liveScope(scope: Scope): Scope {
  return scope.isEnded && ofFile !== undefined ? ofFile : scope;
}

/**
 * Moves records that may be shared to the file, if the file shares anything, such as a session, a server or a process
 * from `beforeAll`.
 */
export function handToFile(scope: Scope): void {
  if (ofFile === undefined || scope === ofFile) return;
  const sharing = [...ofFile.records].some((record) => record.endsLater && !record.isOver(record.origin));
  if (!sharing) return;
  for (const record of scope.records) {
    if (record.mayBeShared?.() !== true || record.isOver(record.origin)) continue;
    scope.records.delete(record);
    ofFile.records.add({ ...record, describe: () => `${record.describe()}, made in "${scope.name}"` });
  }
}

export function runInScope<T>(scope: Scope, work: () => T): T {
  return scopes.run(scope, work);
}

export function watch(record: Omit<Record, "origin">): void {
  const scope = currentScope();
  if (scope === undefined || scope.isReported) return;
  const { records } = liveScope(scope);
  const late = scope.isEnded ? `, made after the end of "${scope.name}"` : "";
  records.add({ ...record, describe: () => record.describe() + late, origin: new Error("made here") });
  if (records.size % manyRecords === 0) removeEnded(records);
}

/**
 * Removes the records of resources that have ended. A record keeps the objects that created its resource in memory, so a
 * test calls this function before it measures the heap.
 */
export function forgetEndedResources(): void {
  for (const scope of new Set([currentScope(), ofFile])) if (scope !== undefined) removeEnded(scope.records);
}

function removeEnded(records: Set<Record>): void {
  for (const each of records) if (each.isOver(each.origin)) records.delete(each);
}
