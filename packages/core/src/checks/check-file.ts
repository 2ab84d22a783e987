/** Reads a parsed file of checks (`fairlead test`) for one server, and reports the first mistake. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { HostError } from "../errors.ts";
import { closest } from "../text/closest.ts";
import { compilePattern, type Mask, type Pattern } from "./masks.ts";

/** The server to check: its name in the settings, or a command that starts it. */
export type CheckTarget =
  | { readonly server: string }
  | { readonly command: readonly [string, ...string[]]; readonly env?: Readonly<Record<string, string>> };

/** What the server's list of tools must contain. */
export interface ToolExpectation {
  readonly include: readonly string[];
  /** If true, the server must have no other tools than those in `include`. */
  readonly exact: boolean;
  /** If true, the tools' definitions must be equal to the snapshot. */
  readonly snapshot: boolean;
}

/** What the result of one tool call must be. All members must hold. */
export interface ResultExpectation {
  /**
   * The whole text of the result: its text blocks, joined by line breaks. `contains` and `matches` search in this text.
   */
  readonly text?: string;
  readonly contains?: readonly string[];
  readonly matches?: Pattern;
  /**
   * What the structured content must contain. Its objects may have further members. Its lists must have the same
   * length.
   */
  readonly structured?: unknown;
  /** A JSON Schema for the structured content. Without structured content, the text is parsed as JSON. */
  readonly schema?: JsonObject;
  readonly snapshot?: boolean;
  /** True if the result must be an error. Default: false. */
  readonly isError?: boolean;
  /** The call may take at most `ratio` times as long as the earlier check with the name `baseline`. */
  readonly latency?: { readonly baseline: string; readonly ratio: number };
}

/** One tool call, and what its result must be. */
export interface CallCheck {
  readonly name: string;
  readonly call: string;
  readonly arguments: JsonObject;
  readonly expect: ResultExpectation;
  readonly masks: readonly Mask[];
}

/** A file of checks: the server, and the checks in their order. */
export interface CheckFile {
  readonly target: CheckTarget;
  readonly tools?: ToolExpectation;
  readonly checks: readonly CallCheck[];
}

/**
 * Returns the checks in a parsed file.
 *
 * @throws HostError `usage`, which names the file and the first mistake
 */
export function readCheckFile(value: unknown, file: string): CheckFile {
  const mistake = (what: string): never => {
    throw new HostError("usage", `${file} is not a valid file of checks: ${what}`, { next: "fairlead test --help" });
  };

  function objectAt(given: unknown, path: string, memberNames: readonly string[]): JsonObject {
    if (!isObject(given)) return mistake(`${path} must be an object`);
    for (const key of Object.keys(given)) {
      if (memberNames.includes(key)) continue;
      const near = closest(key, memberNames);
      mistake(`${path} has an unknown member "${key}"${near === undefined ? "" : `; did you mean "${near}"?`}`);
    }
    return given;
  }

  function textAt(given: unknown, path: string): string {
    return typeof given === "string" && given !== "" ? given : mistake(`${path} must be a string`);
  }

  function textsAt(given: unknown, path: string): readonly string[] {
    const list: readonly unknown[] = Array.isArray(given) ? given : [given];
    return list.map((one) => textAt(one, path));
  }

  function switchAt(given: unknown, path: string): boolean {
    if (given === undefined) return false;
    return typeof given === "boolean" ? given : mistake(`${path} must be true or false`);
  }

  function patternAt(given: unknown, path: string): Pattern {
    const pattern = compilePattern(textAt(given, path));
    return typeof pattern === "string" ? mistake(`${path} cannot be used as a pattern: ${pattern}`) : pattern;
  }

  function masksAt(given: unknown, path: string): readonly Mask[] {
    if (given === undefined) return [];
    return textsAt(given, path).map((text) => ({ pattern: patternAt(text, path), shown: "<masked>" }));
  }

  function targetOf({ server, command, env }: JsonObject): CheckTarget {
    if ((server === undefined) === (command === undefined)) mistake('it needs either "server" or "command"');
    if (server !== undefined) return { server: textAt(server, "server") };
    const [program = mistake("command must not be empty"), ...args] = textsAt(command, "command");
    if (env === undefined) return { command: [program, ...args] };
    const variables = Object.entries(isObject(env) ? env : mistake("env must be an object"));
    return {
      command: [program, ...args],
      env: Object.fromEntries(variables.map(([name, text]) => [name, textAt(text, `env.${name}`)])),
    };
  }

  function toolsOf(given: unknown): ToolExpectation {
    const { include = [], exact, snapshot } = objectAt(given, "tools", ["include", "exact", "snapshot"]);
    return {
      include: Array.isArray(include) ? textsAt(include, "tools.include") : mistake("tools.include must be a list"),
      exact: switchAt(exact, "tools.exact"),
      snapshot: switchAt(snapshot, "tools.snapshot"),
    };
  }

  function expectationOf(given: unknown, path: string): ResultExpectation {
    const members = objectAt(given, path, expectations);
    const at = <T>(name: string, read: (value: unknown, path: string) => T): T | undefined =>
      members[name] === undefined ? undefined : read(members[name], `${path}.${name}`);
    return {
      text: at("text", (text, own) => (typeof text === "string" ? text : mistake(`${own} must be a string`))),
      contains: at("contains", textsAt),
      matches: at("matches", patternAt),
      ...("structured" in members && { structured: members["structured"] }),
      schema: at("schema", (schema, own) => (isObject(schema) ? schema : mistake(`${own} must be a JSON Schema`))),
      snapshot: at("snapshot", switchAt),
      isError: at("isError", switchAt),
      latency: at("latency", latencyOf),
    };
  }

  function latencyOf(given: unknown, path: string): NonNullable<ResultExpectation["latency"]> {
    const { baseline, ratio } = objectAt(given, path, ["baseline", "ratio"]);
    if (typeof ratio !== "number" || ratio <= 0) return mistake(`${path}.ratio must be a number above 0`);
    return { baseline: textAt(baseline, `${path}.baseline`), ratio };
  }

  function checkOf(given: unknown, at: number, masks: readonly Mask[]): CallCheck {
    const path = `checks[${at}]`;
    const members = objectAt(given, path, ["name", "call", "arguments", "expect", "mask"]);
    const { arguments: args = {}, expect = {} } = members;
    const call = textAt(members["call"], `${path}.call`);
    return {
      name: members["name"] === undefined ? call : textAt(members["name"], `${path}.name`),
      call,
      arguments: isObject(args) ? args : mistake(`${path}.arguments must be an object`),
      expect: expectationOf(expect, `${path}.expect`),
      masks: [...masks, ...masksAt(members["mask"], `${path}.mask`)],
    };
  }

  const document = objectAt(value, "the document", ["server", "command", "env", "tools", "mask", "checks"]);
  const { checks = [] } = document;
  const masks = masksAt(document["mask"], "mask");
  const listed = Array.isArray(checks) ? checks : mistake("checks must be a list");
  const read = listed.map((check, at) => checkOf(check, at, masks));
  checkNames(read, mistake);
  return {
    target: targetOf(document),
    tools: document["tools"] === undefined ? undefined : toolsOf(document["tools"]),
    checks: read,
  };
}

const expectations = "text contains matches structured schema snapshot isError latency".split(" ");

/** Snapshots and baselines refer to a check by its name. A baseline must have run before. */
function checkNames(checks: readonly CallCheck[], mistake: (what: string) => never): void {
  const seen = new Set<string>();
  for (const { name, expect } of checks) {
    if (seen.has(name)) mistake(`two checks have the name "${name}"; give each check its own "name"`);
    if (expect.latency !== undefined && !seen.has(expect.latency.baseline))
      mistake(`the baseline "${expect.latency.baseline}" of "${name}" is not an earlier check`);
    seen.add(name);
  }
}
