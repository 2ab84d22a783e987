/**
 * Looks up variables in the process environment and in `.env` files. The scope of an entry decides which file comes
 * first.
 */

import { readFileSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { readText } from "../../files/read-text.ts";
import { limits } from "../../limits.ts";
import type { Problem, Scope, VariableUse } from "../define/definition.ts";
import type { Environment, Locations } from "./paths.ts";

/** The value of a variable, and where it is set. */
export interface VariableValue {
  readonly value: string;
  readonly from: VariableUse["from"];
  /** True if the value comes from a workspace's `.env` file that the entry's approval does not cover. */
  readonly isConfined?: boolean;
}

/** Returns the value of a variable. Undefined if no source sets it. */
export type Lookup = (name: string) => VariableValue | undefined;

type Values = ReadonlyMap<string, string>;

/** The variables from `.env` files. `workspace` is empty if the workspace is not trusted. */
export interface EnvFiles {
  readonly user: Values;
  readonly workspace: Values;
  readonly problems: readonly Problem[];
}

/** Reads the `.env` files. Reads those of the workspace only if the workspace is trusted. */
export async function readEnvFiles({ envFiles }: Locations, trusted: boolean): Promise<EnvFiles> {
  const problems: Problem[] = [];
  const user = await readAll(envFiles.user, "user", problems);
  const workspace = await readAll(trusted ? envFiles.workspace : [], "workspace", problems);
  return { user, workspace, problems };
}

async function readAll(files: readonly string[], scope: Scope, problems: Problem[]): Promise<Values> {
  const values = new Map<string, string>();
  for (const file of files) {
    const read = await readText(file, limits.settingsBytes);
    if (read.kind === "unreadable")
      problems.push(warning(`${file} cannot be read: ${read.reason}`, { scope, file, line: 1, column: 1 }));
    if (read.kind !== "text") continue;
    const { parseEnv } = await import("node:util");
    const text = read.text.replace(/^\uFEFF/, "");
    const lines = linesOf(text);
    for (const [name, value] of Object.entries(parseEnv(text))) {
      if (isReserved(name)) problems.push(reserved(name, { scope, file, line: lines.get(name) ?? 1, column: 1 }));
      else if (value !== undefined && !values.has(name)) values.set(name, value);
    }
  }
  return values;
}

/**
 * Whether `.env` files must not set this variable. Such variables decide where Fairlead finds its settings, its trust
 * rules and its state.
 */
export function isReserved(name: string): boolean {
  return /^(?:FAIRLEAD_|GEMINI_CLI_|HOME$)/i.test(name);
}

function reserved(name: string, origin: NonNullable<Problem["origin"]>): Problem {
  return warning(`${name} in a .env file is ignored: it has an effect only in the environment of the process`, origin);
}

function warning(message: string, origin: NonNullable<Problem["origin"]>): Problem {
  return { severity: "warning", code: "settings_invalid", message, origin };
}

function linesOf(text: string): ReadonlyMap<string, number> {
  return new Map(text.split("\n").map((line, index) => [/^\s*(?:export\s+)?(\w*)/.exec(line)?.[1] ?? "", index + 1]));
}

/** The sources of variables: the environment, `.env` files, and the workspace root as `PWD`. */
export interface LookupSources {
  readonly environment: Environment;
  readonly root: string;
  readonly envFiles: EnvFiles;
}

/**
 * Creates the lookup for an entry. The environment comes first, then `.env` files: for a workspace entry the
 * workspace's files before the user's, for any other entry the user's first. For such an entry, the workspace's files
 * must not decide the program or the URL.
 */
export function lookupFor(scope: Scope, { environment, root, envFiles }: LookupSources): Lookup {
  const user = { values: envFiles.user, from: "user-env-file" } as const;
  const workspace = { values: envFiles.workspace, from: "workspace-env-file" } as const;
  const isOwn = scope === "workspace";
  const isSystem = scope === "system" || scope === "system-defaults";
  const files = isOwn ? [workspace, user] : [user, workspace];
  return (name) => {
    if (name.startsWith(filePrefix)) return isSystem ? textOfFile(name.slice(filePrefix.length)) : undefined;
    if (name === "PWD") return { value: root, from: "workspace-root" };
    const value = fromProcess(name, environment);
    if (value !== undefined) return { value, from: "environment" };
    for (const { values, from } of files) {
      const inFile = values.get(name);
      if (inFile !== undefined) return { value: inFile, from, isConfined: from === "workspace-env-file" && !isOwn };
    }
    return undefined;
  };
}

/** `${file:PATH}` is a variable with the name `file:PATH`. */
const filePrefix = "file:";

/** The text of a file with a secret, such as `/run/secrets/token`, without its last line end. */
function textOfFile(path: string): VariableValue | undefined {
  if (!isAbsolute(path)) return undefined;
  try {
    // Anything else than a small file, such as a pipe, could keep Fairlead waiting.
    const found = statSync(path);
    if (!found.isFile() || found.size > limits.settingsText) return undefined;
    return { value: readFileSync(path, "utf8").replace(/\r?\n$/, ""), from: "file" };
  } catch {
    return undefined;
  }
}

function fromProcess(name: string, { env, platform }: Environment): string | undefined {
  if (Object.hasOwn(env, name)) return env[name];
  if (platform !== "win32") return undefined;
  const key = Object.keys(env).find((candidate) => candidate.toUpperCase() === name.toUpperCase());
  return key === undefined ? undefined : env[key];
}
