/**
 * Finds the recorded answer to a request, by method and arguments. If a request was recorded several times, its answers
 * come in order. Pure.
 */

import type { JsonObject } from "@fairlead/wire";
import { isObject, stringOf } from "@fairlead/wire/json";
import { canonicalJson } from "../text/canonical-json.ts";
import { groupBy } from "../text/group-by.ts";
import { fitsText, hidden } from "../text/hidden-text.ts";
import type { Script } from "./scripts.ts";

/** How exactly a request must match the recording. */
export interface MatchOptions {
  /**
   * If true, a recorded request with other arguments also matches, if the tool, prompt or resource is the same. A
   * request with equal arguments takes precedence.
   */
  readonly loose?: boolean;
}

/** Finds the recorded replies to the messages of one client. */
export interface Matcher {
  /** Returns the script with the recorded replies to a message; undefined if no similar message was recorded. */
  find(method: string, params: JsonObject): Script | undefined;
}

/** Methods whose parameters only describe the client. For these, any parameters match. */
const handshakes: ReadonlySet<string> = new Set(["initialize", "server/discover"]);

/**
 * All scripts of a recording, grouped in three ways: by method and parameters, by method and target, and by method
 * only.
 */
export interface ScriptIndex {
  readonly exact: ReadonlyMap<string, readonly Script[]>;
  readonly byTarget: ReadonlyMap<string, readonly Script[]>;
  readonly byMethod: ReadonlyMap<string, readonly Script[]>;
}

/** Groups the scripts of a recording. The matchers of all clients share these groups. */
export function indexScripts(scripts: readonly Script[]): ScriptIndex {
  return {
    exact: groupBy(scripts, ({ method, params }) => exactKey(method, params)),
    byTarget: groupBy(scripts, ({ method, params }) => `${method} ${targetOf(params)}`),
    byMethod: groupBy(scripts, ({ method }) => method),
  };
}

/**
 * Creates the matcher for one client. A message that was recorded several times gets its answers in order. After that,
 * the last answer is repeated.
 */
export function createMatcher(index: ScriptIndex, { loose = false }: MatchOptions = {}): Matcher {
  const uses = new Map<readonly Script[], number>();

  function next(scripts: readonly Script[] | undefined): Script | undefined {
    if (scripts === undefined) return undefined;
    const used = uses.get(scripts) ?? 0;
    uses.set(scripts, used + 1);
    return scripts[Math.min(used, scripts.length - 1)];
  }

  function withHidden(method: string, params: JsonObject): readonly Script[] | undefined {
    const asked = withoutMeta(params);
    for (const scripts of index.exact.values()) {
      const [first] = scripts;
      if (first?.method === method && fitsHidden(withoutMeta(first.params), asked)) return scripts;
    }
    return undefined;
  }

  return {
    find(method, params) {
      const exact = index.exact.get(exactKey(method, params)) ?? withHidden(method, params);
      return next(exact ?? (loose ? index.byTarget.get(`${method} ${targetOf(params)}`) : undefined));
    },
  };
}

function exactKey(method: string, params: JsonObject): string {
  return handshakes.has(method) ? method : `${method} ${canonicalJson(withoutMeta(params))}`;
}

/**
 * The parameters without `_meta`, which contains the client's own tokens. Empty arguments are removed, because they are
 * equivalent to no arguments.
 */
function withoutMeta(all: JsonObject): JsonObject {
  const { _meta: _, ...params } = all;
  const { arguments: given, ...rest } = params;
  return isObject(given) && Object.keys(given).length === 0 ? rest : params;
}

/** The tool, prompt, resource or task that a request is about. */
export function targetOf({ name, uri, taskId, ref }: JsonObject): string {
  return stringOf(name) ?? stringOf(uri) ?? stringOf(taskId) ?? (isObject(ref) ? canonicalJson(ref) : "");
}

/** Whether the live value equals the recorded value, except where the recording has `(hidden)`. */
export function fitsHidden(recorded: unknown, live: unknown): boolean {
  const pairs: [unknown, unknown][] = [[recorded, live]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [before, now] = pair;
    if (before === hidden || Object.is(before, now)) continue;
    if (typeof before === "string" && typeof now === "string" && fitsText(before, now)) continue;
    if (typeof before !== "object" || typeof now !== "object" || before === null || now === null) return false;
    if (Array.isArray(before) !== Array.isArray(now)) return false;
    const members = Object.entries(before);
    if (members.length !== Object.keys(now).length) return false;
    for (const [name, value] of members) {
      if (!Object.hasOwn(now, name)) return false;
      pairs.push([value, (now as Record<string, unknown>)[name]]);
    }
  }
  return true;
}
