/** A settings file after validation: its values, and the mistakes in each server's entry. */

import type { Node } from "../../files/json/jsonc.ts";
import { closest } from "../../text/closest.ts";
import type { Problem } from "../define/definition.ts";
import { childNode, entriesOf, type JsonProperty } from "../read/nodes.ts";
import type { SettingsSource } from "../read/source.ts";
import { type SettingsFinding, validate } from "./validate.ts";

/** A validated settings file. `entries` are the entries of `mcpServers`, by name. */
export interface CheckedSource extends SettingsSource {
  readonly entries: ReadonlyMap<string, JsonProperty>;
  /** The members of `fairlead.servers`, by server name. */
  readonly extras: ReadonlyMap<string, JsonProperty>;
  /** Mistakes in `mcpServers`, by server name. */
  readonly entryProblems: ReadonlyMap<string, readonly Problem[]>;
  /** Mistakes in `fairlead.servers`, by server name. */
  readonly extrasProblems: ReadonlyMap<string, readonly Problem[]>;
  readonly otherProblems: readonly Problem[];
  /** Mistakes that may make a restriction ineffective. */
  readonly gateProblems: readonly Problem[];
  /** The value at a path. Undefined if the file lacks the key, or if the value has a mistake. */
  read(...path: readonly string[]): Node | undefined;
}

/** Validates a settings file and sorts its mistakes by server. */
export function checkSource(source: SettingsSource): CheckedSource {
  const findings = source.root === undefined ? [] : validate(source.written ?? source.root, source.scope);
  const mistaken = new Set(findings.flatMap(({ severity, node }) => (severity === "error" ? [node] : [])));
  const of = (concerns: (path: readonly string[]) => string | undefined): Map<string, Problem[]> => {
    const problems = new Map<string, Problem[]>();
    for (const finding of findings) {
      const name = concerns(finding.path);
      if (name === undefined) continue;
      const others = problems.get(name) ?? [];
      others.push(toProblem(finding, source, name));
      problems.set(name, others);
    }
    return problems;
  };
  return {
    ...source,
    entries: entriesOf(childNode(source.root, "mcpServers")),
    extras: entriesOf(childNode(source.root, "fairlead", "servers")),
    entryProblems: of(entryNameOf),
    extrasProblems: of(extrasNameOf),
    otherProblems: findings
      .filter(({ path }) => entryNameOf(path) === undefined && extrasNameOf(path) === undefined)
      .map((finding) => toProblem(finding, source)),
    gateProblems: findings.filter(({ path }) => isAboutGates(path)).map((finding) => toProblem(finding, source)),
    read(...path) {
      const node = childNode(source.root, ...path);
      return node === undefined || mistaken.has(node) ? undefined : node;
    },
  };
}

/** Whether a path is in `mcp` or `fairlead.permissions`, even if these names are misspelt. */
function isAboutGates([first = "", second = ""]: readonly string[]): boolean {
  if (first === "fairlead") return closest(second, ["permissions"]) !== undefined;
  return closest(first, ["mcp"]) !== undefined && second !== "serverCommand";
}

function entryNameOf([first, name]: readonly string[]): string | undefined {
  return first === "mcpServers" ? name : undefined;
}

function extrasNameOf([first, second, name]: readonly string[]): string | undefined {
  return first === "fairlead" && second === "servers" ? name : undefined;
}

function toProblem(
  { severity, message, node, next }: SettingsFinding,
  source: SettingsSource,
  serverName?: string,
): Problem {
  return {
    severity,
    code: "settings_invalid",
    message: serverName === undefined ? message : `server "${serverName}": ${message}`,
    origin: source.originOf(node),
    serverName,
    next,
  };
}
