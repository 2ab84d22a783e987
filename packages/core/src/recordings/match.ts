/** Finds the script that answers a request: by method and arguments, in order for repeated ones. Pure. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, stringOf } from "@fairlead/wire/json";
import { canonicalJson } from "../text/canonical-json.ts";
import { fitsHidden } from "./hidden-values.ts";
import type { Script } from "./scripts.ts";

export interface MatchOptions {
  /** Falls back to a recorded request for the same tool, prompt or resource with other arguments. */
  readonly loose?: boolean;
}

/** Finds scripts for the messages of one client. */
export interface Matcher {
  /** The script for a message; undefined if nothing like it was recorded. */
  find(method: string, params: JsonObject): Script | undefined;
}

/** Methods whose parameters describe the client, not what it asks for. */
const handshakes: ReadonlySet<string> = new Set(["initialize", "server/discover"]);

/** All scripts, grouped for matching. */
export interface ScriptIndex {
  readonly exact: ReadonlyMap<string, readonly Script[]>;
  readonly byTarget: ReadonlyMap<string, readonly Script[]>;
  readonly byMethod: ReadonlyMap<string, readonly Script[]>;
}

/** Groups scripts once; every client gets its own matcher over the same index. */
export function indexScripts(scripts: readonly Script[]): ScriptIndex {
  const group = (keyOf: (script: Script) => string): ReadonlyMap<string, readonly Script[]> => {
    const groups = new Map<string, Script[]>();
    for (const script of scripts) {
      const key = keyOf(script);
      const others = groups.get(key);
      if (others === undefined) groups.set(key, [script]);
      else others.push(script);
    }
    return groups;
  };
  return {
    exact: group(({ method, params }) => exactKey(method, params)),
    byTarget: group(({ method, params }) => `${method} ${targetOf(params)}`),
    byMethod: group(({ method }) => method),
  };
}

/** A message that was recorded several times gets its answers in order; after the last one, the last one again. */
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

/** The parameters without `_meta`, which carries the client's own tokens; missing arguments count as none. */
function withoutMeta(all: JsonObject): JsonObject {
  const { _meta: _, ...params } = all;
  const { arguments: given, ...rest } = params;
  return isObject(given) && Object.keys(given).length === 0 ? rest : params;
}

/** The tool, prompt, resource or task that a request is about. */
export function targetOf({ name, uri, taskId, ref }: JsonObject): string {
  return stringOf(name) ?? stringOf(uri) ?? stringOf(taskId) ?? (isObject(ref) ? canonicalJson(ref) : "");
}
