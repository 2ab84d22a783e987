/** Reads and parses one settings file, or reports why Fairlead ignores it. */

import { type Node, parseJsonc } from "../../files/json/jsonc.ts";
import { readText, type TextFile } from "../../files/read-text.ts";
import { limits } from "../../limits.ts";
import { type Origin, optionOrigin, type Problem, type Scope, type SettingsFile } from "../define/definition.ts";
import { combineRepeated } from "./repeated-keys.ts";

/** One parsed settings file. `originOf` returns the file, line and column of a node. */
export interface SettingsSource {
  readonly scope: Scope;
  readonly file: string;
  readonly state: Exclude<SettingsFile["state"], "ignored">;
  /** The top-level object, with repeated keys combined. Undefined if the file is absent, blank or not valid. */
  readonly root: Node | undefined;
  /** The top-level object as written. Present only if the file has repeated keys. */
  readonly written?: Node;
  readonly problems: readonly Problem[];
  originOf(node: Pick<Node, "offset">): Origin;
}

/** Reads and parses a settings file. Does not throw: mistakes are in `problems`. */
export async function readSource(scope: Scope, file: string): Promise<SettingsSource> {
  return toSource(scope, file, await readText(file, limits.settingsBytes));
}

/** Parses settings that a program passes as text, in place of the user's file. */
export function textSource(text: string): SettingsSource {
  return toSource("user", optionOrigin, { kind: "text", text });
}

function toSource(scope: Scope, file: string, read: TextFile): SettingsSource {
  const start = { scope, file, line: 1, column: 1 };
  const without = (state: SettingsSource["state"], problems: readonly Problem[]): SettingsSource => ({
    scope,
    file,
    state,
    problems,
    root: undefined,
    originOf: () => start,
  });
  if (read.kind === "absent") return without("absent", []);
  if (read.kind === "unreadable") return without("broken", [broken(start, `${file} cannot be read: ${read.reason}`)]);
  const document = parseJsonc(read.text);
  const { root } = document;
  const originOf = (node: Pick<Node, "offset">): Origin => ({ scope, file, ...document.positionAt(node.offset) });
  const [error] = document.errors;
  if (error !== undefined) {
    const origin = { scope, file, line: error.line, column: error.column };
    return without("broken", [broken(origin, `${file} is not valid JSON: ${error.message}`)]);
  }
  if (root === undefined) return without("read", [{ ...broken(start, `${file} is blank`), severity: "warning" }]);
  if (root.type !== "object") return without("broken", [broken(originOf(root), `${file} must hold an object, { … }`)]);
  const tooMany = findTooMany(root);
  if (tooMany !== undefined)
    return without("broken", [broken(originOf(tooMany), `${file} contains more than ${limits.settingsValues} values`)]);
  if (document.duplicates.length === 0) return { scope, file, state: "read", root, problems: [], originOf };
  return { scope, file, state: "read", root: combineRepeated(root), written: root, problems: [], originOf };
}

/**
 * Returns one of the values if there are more than the maximum. Fairlead ignores a file with more values, because
 * validation would take too long.
 */
function findTooMany(root: Node): Node | undefined {
  let count = 0;
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    count += 1;
    if (count > limits.settingsValues) return node;
    for (const child of node.children ?? []) waiting.push(child);
  }
  return undefined;
}

function broken(origin: Origin, message: string): Problem {
  const next = `Correct ${origin.file} at line ${origin.line}, column ${origin.column}. Until then Fairlead ignores the whole file.`;
  return { severity: "error", code: "settings_invalid", message, origin, next };
}
