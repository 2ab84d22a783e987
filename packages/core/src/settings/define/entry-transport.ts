/** Reads the transport of an entry (stdio, HTTP or SSE), and reports keys that do not fit the transport. */

import type { Node } from "../../files/json/jsonc.ts";
import { childNode, stringNode, textMapOf, textsOf } from "../read/nodes.ts";
import type { Transport } from "./definition.ts";

/** Reports a problem at a node of the entry. `next` says how to correct it. */
export type ReportProblem = (severity: "error" | "warning", node: Node, message: string, next?: string) => void;

const ways = ["command", "url", "httpUrl"] as const;
const forCommands = ["args", "env", "cwd"];
const forUrls = ["headers", "oauth"];

/** Reads the transport without expanding variables. If the entry has a mistake, reports it and returns undefined. */
export function readTransport(entry: Node, report: ReportProblem): Transport | undefined {
  // Validation has already reported that the entry is not an object.
  if (entry.type !== "object") return undefined;
  const found = ways.filter((key) => childNode(entry, key) !== undefined);
  const [way] = found;
  if (way === undefined || found.length > 1) {
    const which = way === undefined ? "none of command, url and httpUrl" : found.join(" and ");
    report("error", entry, `the entry has ${which}; it must have exactly one of them`);
    return undefined;
  }
  const written = stringNode(childNode(entry, way));
  if (written === undefined) return undefined;
  for (const key of way === "command" ? forUrls : forCommands) {
    const misplaced = childNode(entry, key);
    if (misplaced !== undefined) report("warning", misplaced, `"${key}" has no effect together with "${way}"`);
  }
  const kind = kindOf(way, entry, report);
  return kind === "stdio"
    ? stdio(written, entry, report)
    : { kind, url: written, headers: textMapOf(childNode(entry, "headers")) };
}

const types: ReadonlyMap<string | undefined, "stdio" | "http" | "sse"> = new Map([
  ["stdio", "stdio"],
  ["http", "http"],
  ["streamable-http", "http"],
  ["sse", "sse"],
]);

function kindOf(way: (typeof ways)[number], entry: Node, report: ReportProblem): Transport["kind"] {
  const node = childNode(entry, "type") ?? childNode(entry, "transportType");
  const other = childNode(entry, "transportType");
  const type = types.get(stringNode(node));
  if (other !== undefined && types.get(stringNode(other)) !== type)
    report("warning", other, '"transportType" differs from "type"; Fairlead uses "type"');
  if (way === "url" && (type === "http" || type === "sse")) return type;
  const kind = way === "command" ? "stdio" : way === "httpUrl" ? "http" : "http-or-sse";
  if (node !== undefined && type !== undefined && type !== kind)
    report("warning", node, `the transport "${stringNode(node)}" does not match "${way}"; Fairlead uses "${way}"`);
  return kind;
}

function stdio(command: string, entry: Node, report: ReportProblem): Transport | undefined {
  const node = childNode(entry, "command") ?? entry;
  if (command.trim() === "") {
    report("error", node, '"command" is empty');
    return undefined;
  }
  if (/\s/.test(command.trim()) && !/[/\\]/.test(command))
    report(
      "warning",
      node,
      `"command" must name one program, without arguments; it is "${command}"`,
      'Move its arguments to "args".',
    );
  const [args, env] = [textsOf(childNode(entry, "args")), textMapOf(childNode(entry, "env"))];
  return { kind: "stdio", command, args, env, cwd: stringNode(childNode(entry, "cwd")) };
}
