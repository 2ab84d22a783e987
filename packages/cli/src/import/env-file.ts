/** Converts `envFile`: a name in the file becomes a reference if this variable has a value. Values are never copied. */

import { resolve } from "node:path";
import { parseEnv } from "node:util";
import { readText } from "@fairlead/core/files/read-text";
import { isInside } from "@fairlead/core/files/real-path";
import { limits } from "@fairlead/core/limits";
import type { Environment } from "@fairlead/core/settings/read/paths";
import type { Lookup } from "@fairlead/core/settings/read/variables";
import { objectOf } from "@fairlead/wire/json";
import type { Conversion } from "./convert.ts";
import type { ImportSource, Remark } from "./program.ts";
import { isVariableName, resolveVariableReferences } from "./references.ts";

/** What decides whether Fairlead may read an `envFile`, and which variables have values. */
export interface EnvFileContext {
  readonly environment: Environment;
  readonly root: string;
  readonly trusted: boolean;
  /** Looks up a variable with the rules of the settings file that gets the new entry. */
  readonly lookup: Lookup;
}

/**
 * Adds references to the variables of the entry's `envFile` that have values to `env`, and remarks about the others.
 * Returns `conversion` unchanged if it has no `envFile`.
 */
export async function convertEnvFile(
  conversion: Conversion,
  source: ImportSource,
  context: EnvFileContext,
): Promise<Conversion> {
  if (conversion.envFile === undefined) return conversion;
  const folder = source.folder ?? context.root;
  const file = resolve(folder, resolveVariableReferences(conversion.envFile, { ...context.environment, folder }));
  if (!mayRead(file, source, context)) {
    const next = folder === context.root ? "fairlead trust add" : undefined;
    return withRemarks(conversion, [dropped("is not read: it belongs to a folder that is not trusted", next)]);
  }
  const names = await namesIn(file);
  if (names === undefined) return withRemarks(conversion, [dropped(`cannot be read: ${file}`)]);
  const written = tableOf(conversion.entry["env"]);
  const missing = names.filter((name) => !written.has(name));
  const expandable = new Set(missing.filter((name) => isVariableName(name) && context.lookup(name) !== undefined));
  const env = new Map([...[...expandable].map((name) => [name, `\${${name}}`] as const), ...written]);
  const remarks = missing.map((name) => (expandable.has(name) ? referred(name, file) : notCopied(name, file)));
  const entry = env.size === 0 ? conversion.entry : { ...conversion.entry, env: Object.fromEntries(env) };
  return withRemarks({ ...conversion, entry }, remarks);
}

/**
 * Whether Fairlead may read the `.env` file. Fairlead reads a file of this workspace only if the workspace is trusted,
 * and never reads a file of another project.
 */
function mayRead(file: string, source: ImportSource, { root, trusted }: EnvFileContext): boolean {
  if (source.folder !== undefined) return source.folder === root && trusted;
  return trusted || !isInside(file, root);
}

/** The variable names in a `.env` file. Undefined if the file cannot be read. */
async function namesIn(file: string): Promise<readonly string[] | undefined> {
  const read = await readText(file, limits.settingsBytes);
  return read.kind === "text" ? Object.keys(parseEnv(read.text.replace(/^\uFEFF/, ""))) : undefined;
}

function dropped(message: string, next?: string): Remark {
  return { kind: "dropped", key: "envFile", message, next };
}

function referred(name: string, file: string): Remark {
  return {
    kind: "converted",
    key: `env.${name}`,
    message: `defined in ${file}; the entry refers to it as \${${name}}`,
  };
}

function notCopied(name: string, file: string): Remark {
  const message = `Fairlead does not copy the value from ${file}: store the value, then add "${name}": "\${secret:${name}}" to env`;
  return { kind: "dropped", key: `env.${name}`, message, next: `fairlead secret set ${name}` };
}

function tableOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(objectOf(value)));
}

function withRemarks(conversion: Conversion, remarks: readonly Remark[]): Conversion {
  return { ...conversion, remarks: [...conversion.remarks, ...remarks] };
}
