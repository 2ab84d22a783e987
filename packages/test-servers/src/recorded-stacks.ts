/** Records the stacks with which the packages reach Node's functions: which function called which one, in which file. */

import filesystem from "node:fs";
import files from "node:fs/promises";
import http from "node:http";
import { Session as InspectorSession, console as inspectorConsole, type Runtime } from "node:inspector";
import { syncBuiltinESMExports } from "node:module";

/** A function of the packages, and its file, such as `core/src/request/run.ts`. An anonymous one has the name "". */
export interface RecordedFunction {
  readonly name: string;
  readonly file: string;
}

/** One stack, the caller first. */
export interface RecordedStack {
  /** What was reached, such as `open /home/ada/.gemini/settings.json`. */
  readonly reached: string;
  readonly functions: readonly RecordedFunction[];
}

type Hooked = Record<string, (...given: unknown[]) => unknown>;

/** What is watched. A message to a server passes `JSON.stringify`. */
const watched = [
  [JSON, ["stringify"]],
  [files, ["open", "readFile", "writeFile", "rename"]],
  [filesystem, ["writeFileSync"]],
  [http, ["request"]],
  [process, ["kill"]],
] as unknown as readonly (readonly [Hooked, readonly string[]])[];

/** One for the process: V8 records no callers of asynchronous functions for a second inspector. */
let inspector: InspectorSession | undefined;

/** V8's inspector records the callers of asynchronous functions too. */
function openInspector(): InspectorSession {
  const opened = new InspectorSession();
  opened.connect();
  opened.post("Runtime.enable");
  opened.post("Debugger.enable");
  return opened;
}

/**
 * Returns the stacks of everything that was reached while `work` ran. Those that `work` began are from `work` on; others
 * begin where a message arrived.
 */
export async function recordStacks(work: () => Promise<unknown>): Promise<readonly RecordedStack[]> {
  inspector ??= openInspector();
  inspector.post("Debugger.setAsyncCallStackDepth", { maxDepth: 200 });
  const stacks: RecordedStack[] = [];
  inspector.on("Runtime.consoleAPICalled", ({ params: { args, stackTrace } }) => {
    if (stackTrace !== undefined) stacks.push({ reached: String(args[0]?.value), functions: functionsOf(stackTrace) });
  });
  const undo = watched.flatMap(([owner, names]) => names.map((name) => watch(owner, name)));
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    for (const each of undo) each();
    syncBuiltinESMExports();
    inspector.removeAllListeners("Runtime.consoleAPICalled");
    inspector.post("Debugger.setAsyncCallStackDepth", { maxDepth: 0 });
  }
  return stacks.map(({ reached, functions }) => {
    const begin = functions.findIndex(({ name, file }) => name === "recordStacks" && file.startsWith("test-servers/"));
    return { reached, functions: functions.slice(begin + 1) };
  });
}

function watch(owner: Hooked, name: string): () => void {
  const before = owner[name];
  if (before === undefined) return () => {};
  owner[name] = function reached(this: unknown, ...given) {
    const [first] = given;
    inspectorConsole.trace(`${name} ${typeof first === "string" ? first : ""}`.trimEnd());
    return before.apply(this, given);
  };
  return () => {
    owner[name] = before;
  };
}

/** The packages' functions, the caller first. A function that waited several times counts once. */
function functionsOf(stack: Runtime.StackTrace): readonly RecordedFunction[] {
  const found = new Map<string, RecordedFunction>();
  for (let part: Runtime.StackTrace | undefined = stack; part !== undefined; part = part.parent)
    for (const { functionName: name, url } of part.callFrames) {
      const [, file] = /\/packages\/((?:[^/]+)\/(?:src|test)\/.+)$/.exec(url) ?? [];
      if (file !== undefined && name !== "reached") found.set(`${name} ${file}`, { name, file });
    }
  return [...found.values()].toReversed();
}

/** Files whose functions only run what they are given: they count work, hold a lock or stop a clock meanwhile. */
const around: ReadonlySet<string> = new Set([
  "core/src/request/open-work.ts",
  "core/src/auth/store/sign-in-lock.ts",
  "core/src/files/atomic/lock.ts",
  "wire/src/rpc/time.ts",
]);

/** The part of a stack from the first function of one file up to the first function of another file or folder. */
export function walkOf({ functions }: RecordedStack, from: string, to: string): readonly RecordedFunction[] {
  const begin = functions.findIndex(({ file }) => file === from);
  const walk = functions.slice(begin).filter(({ file }) => !around.has(file));
  const end = walk.findIndex(({ file }) => file.startsWith(to));
  return walk.slice(0, end === -1 ? undefined : end);
}

/** The files of a walk to which it returns after it has left them. */
export function filesTwice(walk: readonly RecordedFunction[]): readonly string[] {
  const files = walk.map(({ file }) => file).filter((file, at, all) => file !== all[at - 1]);
  return files.filter((file, at) => files.indexOf(file) !== at);
}

/** The functions with a name, as ARCHITECTURE.md draws them. */
export function namedIn(walk: readonly RecordedFunction[]): readonly string[] {
  return walk.filter(({ name }) => name !== "").map(({ name, file }) => `${name} ${file}`);
}

/** The walk that ARCHITECTURE.md draws under this title, as `namedIn` gives it. */
export async function drawnWalk(title: string): Promise<readonly string[]> {
  const text = await files.readFile(new URL("../../../ARCHITECTURE.md", import.meta.url), "utf8");
  const lines = text.split("\n");
  const drawn = lines.slice(lines.indexOf(` ${title}`) + 1);
  return drawn
    .slice(
      0,
      drawn.findIndex((line) => !line.startsWith(" └▸ ")),
    )
    .map((line) => line.replace(" └▸ ", "").replace(/ +/, " "));
}
