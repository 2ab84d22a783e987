/** Writes a call as a line that parses back to the same call. Pure. */

import { HostError } from "@fairlead/core/errors";
import type { JsonObject } from "@fairlead/wire";
import { type ToolTarget, targetName } from "../../targets/target.ts";

/** Values that need no quotes and are not read as JSON. */
const plain = /^[\w./:+-]+$/;

export function writeCall(target: ToolTarget, args: JsonObject): string {
  const words = Object.entries(args).map(([name, value]) => writeArgument(name, value));
  return [quoted(targetName(target)), ...words].join(" ");
}

function writeArgument(name: string, value: unknown): string {
  if (name === "" || name.includes("=") || name.endsWith(":"))
    throw new HostError("usage", `an argument called "${name}" cannot be typed`);
  const isPlain = typeof value === "string" && plain.test(value);
  return quoted(isPlain ? `${name}=${value}` : `${name}:=${JSON.stringify(value)}`);
}

function quoted(word: string): string {
  return /^[\w./:=+-]+$/.test(word) ? word : `'${word.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
