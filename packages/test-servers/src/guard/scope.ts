/** Which test made a thing: a scope for each test and one for its file; what a test starts carries its scope along. */

import { AsyncLocalStorage } from "node:async_hooks";

/** Something that must be over when its scope ends. */
export interface Record {
  /** What it is, for the message. */
  describe(): string;
  isOver(origin: Error): boolean;
  /** It may belong to something that the whole file shares: then it is for the end of the file. */
  mayBeShared?(): boolean;
  /** Its end is the system's to bring about: it gets a moment of real time. A timer gets none, it would only fire. */
  readonly endsLater: boolean;
  /** Where it was made. */
  readonly origin: Error;
}

export interface Scope {
  readonly name: string;
  readonly records: Set<Record>;
  readonly errors: Error[];
  isEnded: boolean;
  /** It has been reported that it leaves something behind: what comes of that later is no news. */
  isReported: boolean;
}

const scopes = new AsyncLocalStorage<Scope>();
let ofFile: Scope | undefined;
/** When a scope holds this many records, those that are over leave it. */
const manyRecords = 5000;

export function newScope(name: string): Scope {
  return { name, records: new Set(), errors: [], isEnded: false, isReported: false };
}

/** From here on, whatever no test makes is the file's. */
export function setFileScope(scope: Scope | undefined): void {
  ofFile = scope;
}

/** The scope of whatever runs now; undefined where no guard watches. */
export function currentScope(): Scope | undefined {
  return ofFile === undefined ? undefined : (scopes.getStore() ?? ofFile);
}

/** What a test does after its end is for the end of the file. */
export function liveScope(scope: Scope): Scope {
  return scope.isEnded && ofFile !== undefined ? ofFile : scope;
}

/** Hands what may be shared to the file, if the file shares anything at all (a session, a server, a process from `beforeAll`). */
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
  if (records.size % manyRecords === 0) for (const each of records) if (each.isOver(each.origin)) records.delete(each);
}
