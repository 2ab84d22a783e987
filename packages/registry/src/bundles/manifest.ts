/**
 * Reads `manifest.json` of a bundle (MCPB, and the older DXT). All of it is a stranger's text: it is checked and bounded
 * here, printed only as `SafeText`, and nothing in it stands for a variable of Fairlead's settings.
 */

import { isObject, listOf, member, textIn } from "@fairlead/wire/json";
import { BundleRefusal, whyNotPath } from "./zip.ts";

/** The systems that a manifest can name. */
export type BundlePlatform = "darwin" | "win32" | "linux";

/** How a bundle starts its server. Texts may contain `${__dirname}`, `${user_config.KEY}` and so on. */
export interface BundleCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A value that the user gives. */
export interface BundleInput {
  readonly key: string;
  readonly type: "string" | "number" | "boolean" | "directory" | "file";
  readonly title: string;
  readonly description: string;
  readonly isRequired: boolean;
  /** Several values, of which each becomes an argument. */
  readonly isMultiple: boolean;
  /** The value is a secret. */
  readonly isSensitive: boolean;
  /** May contain `${HOME}` and so on. Empty if there is none. */
  readonly defaults: readonly string[];
  readonly min: number | undefined;
  readonly max: number | undefined;
}

export interface BundleManifest {
  readonly manifestVersion: string;
  readonly name: string;
  readonly title: string | undefined;
  readonly version: string;
  readonly description: string;
  readonly author: string;
  readonly kind: "node" | "python" | "binary" | "uv";
  readonly entryPoint: string;
  /** Undefined if the kind of the server says how it starts. */
  readonly command: BundleCommand | undefined;
  readonly overrides: ReadonlyMap<string, Partial<BundleCommand>>;
  readonly inputs: readonly BundleInput[];
  /** The systems that it runs on. Undefined: all. */
  readonly platforms: readonly string[] | undefined;
  readonly nodeRange: string | undefined;
  readonly pythonRange: string | undefined;
  readonly toolNames: readonly string[];
}

export const manifestName = "manifest.json";
export const maxManifestBytes: number = 1024 * 1024;

const versions: ReadonlySet<string> = new Set(["0.1", "0.2", "0.3", "0.4"]);
const most = { text: 4096, list: 512, inputs: 128 };
const kinds = ["node", "python", "binary", "uv"] as const;
const inputTypes = ["string", "number", "boolean", "directory", "file"] as const;

/** @throws BundleRefusal */
export function readManifest(bytes: Buffer): BundleManifest {
  const manifest = parse(bytes);
  const manifestVersion = textIn(manifest, "manifest_version") ?? textIn(manifest, "dxt_version") ?? "";
  if (!versions.has(manifestVersion))
    throw new BundleRefusal(
      manifestVersion === ""
        ? 'manifest.json has no "manifest_version"'
        : `manifest.json has the version ${manifestVersion.slice(0, 20)}; Fairlead reads 0.1 to 0.4`,
    );
  const server = objectIn(manifest, "server");
  const kind = oneOf(required(server, "type", "server.type"), kinds, "server.type");
  const entryPoint = required(server, "entry_point", "server.entry_point").replace(/^\.\//, "");
  const why = whyNotPath(entryPoint);
  if (why !== undefined) throw new BundleRefusal(`"server.entry_point" ${why}`);
  const config = member(server, "mcp_config");
  const overrides = member(config, "platform_overrides") ?? {};
  if (!isObject(overrides)) throw wrong("server.mcp_config.platform_overrides");
  const compatibility = member(manifest, "compatibility");
  const runtimes = member(compatibility, "runtimes");
  const platforms = member(compatibility, "platforms");
  return {
    manifestVersion,
    name: namedAs(required(manifest, "name", "name"), "name"),
    title: optional(manifest, "display_name"),
    version: namedAs(required(manifest, "version", "version"), "version"),
    description: required(manifest, "description", "description"),
    author: required(objectIn(manifest, "author"), "name", "author.name"),
    kind,
    entryPoint,
    command: config === undefined ? undefined : readCommand(config),
    overrides: new Map(entriesOf(overrides).map(([platform, value]) => [platform, readPartial(value, platform)])),
    inputs: readInputs(member(manifest, "user_config")),
    platforms: platforms === undefined ? undefined : texts(platforms, "compatibility.platforms"),
    nodeRange: optional(runtimes, "node"),
    pythonRange: optional(runtimes, "python"),
    toolNames: listOf(member(manifest, "tools"))
      .slice(0, most.list)
      .flatMap((tool) => textIn(tool, "name")?.slice(0, 200) ?? []),
  };
}

function parse(bytes: Buffer): unknown {
  if (bytes.length > maxManifestBytes) throw new BundleRefusal("manifest.json is larger than 1 MB");
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // The reason may quote the text, and says little.
  }
  throw new BundleRefusal("manifest.json is not a JSON object");
}

/** Name and version become parts of a path, and stand in one line of output. */
function namedAs(text: string, key: string): string {
  if (text.length <= 128 && /^[^\p{C}\p{Z}/\\][^\p{C}/\\]*$/u.test(text) && !text.startsWith(".")) return text;
  throw new BundleRefusal(`"${key}" in manifest.json is not a plain name`);
}

function readCommand(config: unknown): BundleCommand {
  const { command, args = [], env = {} } = readPartial(config, "mcp_config");
  if (command === undefined || command.trim() === "") throw new BundleRefusal('"server.mcp_config" has no "command"');
  return { command, args, env };
}

function readPartial(value: unknown, key: string): Partial<BundleCommand> {
  if (!isObject(value)) throw wrong(key);
  const command = optional(value, "command");
  const args = member(value, "args");
  const env = member(value, "env");
  return {
    ...(command !== undefined && { command }),
    ...(args !== undefined && { args: texts(args, `${key}.args`) }),
    ...(env !== undefined && { env: variables(env, `${key}.env`) }),
  };
}

function variables(value: unknown, key: string): Readonly<Record<string, string>> {
  if (!isObject(value)) throw wrong(key);
  for (const [name, text] of entriesOf(value)) {
    if (!/^[^=\0\s]{1,200}$/.test(name)) throw new BundleRefusal(`"${key}" has a variable with an invalid name`);
    if (typeof text !== "string" || text.length > most.text || text.includes("\0")) throw wrong(`${key}.${name}`);
  }
  return value as Record<string, string>;
}

function readInputs(value: unknown): readonly BundleInput[] {
  if (value === undefined) return [];
  if (!isObject(value)) throw wrong("user_config");
  const inputs = entriesOf(value);
  if (inputs.length > most.inputs) throw new BundleRefusal(`"user_config" has more than ${most.inputs} values`);
  return inputs.map(([key, input]) => {
    const at = `user_config.${key}`;
    if (!/^[\w.-]{1,100}$/.test(key)) throw new BundleRefusal(`"user_config" has a value with an invalid name`);
    const type = oneOf(required(input, "type", `${at}.type`), inputTypes, `${at}.type`);
    const given = member(input, "default");
    const isList = Array.isArray(given);
    const scalar =
      typeof given === "string" || typeof given === "number" || typeof given === "boolean" ? given : undefined;
    if (given !== undefined && !isList && scalar === undefined) throw wrong(`${at}.default`);
    const isMultiple = member(input, "multiple") === true && (type === "directory" || type === "file");
    return {
      key,
      type,
      title: optional(input, "title") ?? key,
      description: optional(input, "description") ?? "",
      isRequired: member(input, "required") === true,
      isMultiple,
      isSensitive: member(input, "sensitive") === true && type === "string",
      defaults: isList ? texts(given, `${at}.default`) : scalar === undefined || scalar === "" ? [] : [String(scalar)],
      min: numberIn(input, "min"),
      max: numberIn(input, "max"),
    };
  });
}

function objectIn(value: unknown, key: string): object {
  const found = member(value, key);
  if (isObject(found)) return found;
  throw wrong(key);
}

function required(value: unknown, key: string, path: string): string {
  const text = optional(value, key);
  if (text === undefined || text === "") throw new BundleRefusal(`manifest.json has no "${path}"`);
  return text;
}

function optional(value: unknown, key: string): string | undefined {
  const text = textIn(value, key);
  if (text === undefined || text.length <= most.text) {
    if (text?.includes("\0") === true) throw wrong(key);
    return text;
  }
  throw new BundleRefusal(`"${key}" in manifest.json is too long`);
}

function texts(value: unknown, path: string): readonly string[] {
  if (!Array.isArray(value) || value.length > most.list) throw wrong(path);
  for (const text of value as readonly unknown[])
    if (typeof text !== "string" || text.length > most.text || text.includes("\0")) throw wrong(path);
  return value as readonly string[];
}

function numberIn(value: unknown, key: string): number | undefined {
  const found = member(value, key);
  return typeof found === "number" ? found : undefined;
}

function oneOf<Word extends string>(text: string, words: readonly Word[], path: string): Word {
  const found = words.find((word) => word === text);
  if (found !== undefined) return found;
  throw new BundleRefusal(`"${path}" in manifest.json is none of ${words.join(", ")}`);
}

function entriesOf(value: object): [string, unknown][] {
  return Object.entries(value);
}

function wrong(path: string): BundleRefusal {
  return new BundleRefusal(`"${path}" in manifest.json has a wrong value`);
}
