/** Converts the entries of Zed and opencode to the form that Claude Desktop, Cursor and the other programs use. */

import { isObject } from "@fairlead/wire/json";
import type { Program } from "./program.ts";

/** Returns the entry with the keys that most programs use. Does not check values. */
export function toCommonForm(program: Program, entry: unknown): unknown {
  if (!isObject(entry)) return entry;
  if (program === "zed") return fromZed(entry);
  return program === "opencode" ? fromOpencode(entry) : entry;
}

/** Converts an entry of Zed, also in the older form `command: { path, args, env }`. */
function fromZed({ source: _source, command, ...rest }: Readonly<Record<string, unknown>>): unknown {
  if (!isObject(command)) return command === undefined ? rest : { command, ...rest };
  const { path, ...others } = command;
  return { command: path, ...others, ...rest };
}

/**
 * Converts an entry of opencode: `command` is a list, `environment` holds the variables, and references are
 * `{env:NAME}` and `{file:PATH}`.
 */
function fromOpencode({ type, command, environment, ...rest }: Readonly<Record<string, unknown>>): unknown {
  const isKnownType = type === "local" || type === "remote" || type === undefined;
  const [program, ...args] = Array.isArray(command) ? (command as readonly unknown[]) : [command];
  const local = command === undefined ? {} : { command: program, ...(args.length > 0 && { args }) };
  const env = environment === undefined ? {} : { env: environment };
  return withReferences({ ...(isKnownType ? {} : { type }), ...local, ...env, ...rest });
}

function withReferences(value: unknown): unknown {
  if (typeof value === "string")
    return value.replaceAll(/\{(env|file):([^{}]*)\}/g, (_all, kind: string, body: string) => `\${${kind}:${body}}`);
  if (Array.isArray(value)) return value.map(withReferences);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withReferences(inner)]));
}
