/**
 * Reads `server.json`, the description of a server in an MCP registry. All of it is a stranger's text: it is checked and
 * bounded here, and printed only as `SafeText`.
 */

import { isObject, listOf, member, textIn } from "@fairlead/wire/json";

/** A server as one registry publishes one version of it. */
export interface RegistryServer {
  /** Namespace and name, such as `io.github.acme/weather`. */
  readonly name: string;
  readonly version: string;
  readonly title: string | undefined;
  readonly description: string;
  readonly websiteUrl: string | undefined;
  readonly repository: string | undefined;
  /** `deleted` usually means malware or spam. */
  readonly status: "active" | "deprecated" | "deleted";
  readonly statusMessage: string | undefined;
  /** An ISO date. */
  readonly publishedAt: string | undefined;
  readonly isLatest: boolean;
  readonly packages: readonly RegistryPackage[];
  readonly remotes: readonly RegistryRemote[];
}

/** A program that contains the server. */
export interface RegistryPackage {
  /** `npm`, `pypi`, `oci`, `nuget`, `mcpb`, or a kind that Fairlead does not know. */
  readonly registryType: string;
  readonly registryBaseUrl: string | undefined;
  readonly identifier: string;
  readonly version: string | undefined;
  readonly fileSha256: string | undefined;
  readonly runtimeArguments: readonly RegistryArgument[];
  readonly packageArguments: readonly RegistryArgument[];
  readonly environmentVariables: readonly NamedInput[];
  readonly transport: RegistryRemote | { readonly type: "stdio" };
}

/** A server that already runs at an address. */
export interface RegistryRemote {
  readonly type: "streamable-http" | "sse";
  /** May contain `{variables}`. */
  readonly url: string;
  readonly headers: readonly NamedInput[];
  readonly variables: Readonly<Record<string, RegistryInput>>;
}

/** A value that the publisher fixes, or that the user gives. */
export interface RegistryInput {
  readonly description: string | undefined;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  readonly format: "string" | "number" | "boolean" | "filepath";
  /** A fixed value, perhaps with `{variables}`. */
  readonly value: string | undefined;
  readonly default: string | undefined;
  readonly placeholder: string | undefined;
  readonly choices: readonly string[];
}

interface InputWithVariables extends RegistryInput {
  readonly variables: Readonly<Record<string, RegistryInput>>;
}

/** An environment variable or a header. */
export interface NamedInput extends InputWithVariables {
  readonly name: string;
}

export type RegistryArgument = InputWithVariables & { readonly isRepeated: boolean } & (
    | { readonly type: "positional"; readonly valueHint: string | undefined }
    | { readonly type: "named"; readonly name: string }
  );

/** What a registry published and Fairlead refuses to read. Both are a stranger's text. */
export interface RefusedServer {
  readonly name: string;
  readonly why: string;
}

/** How much of one description is read. Registries that follow the specification stay far below. */
const most = { text: 4_096, packages: 64, arguments: 256, variables: 128, choices: 256 };
/** The pattern of the specification. It leaves no room for another host, a path or an option. */
const namePattern = /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/;
const official = "io.modelcontextprotocol.registry/official";
const oldMembers = [
  "registry_type",
  "registry_name",
  "package_arguments",
  "runtime_arguments",
  "environment_variables",
];

class Refusal extends Error {}

/** Whether the text can be the name of a server in a registry. */
export function isRegistryName(text: string): boolean {
  return text.length >= 3 && text.length <= 200 && !text.startsWith("-") && namePattern.test(text);
}

/** Reads one item of a registry's answer: the server and what the registry says about it. */
export function readServerJson(value: unknown): RegistryServer | RefusedServer {
  const server = isObject(member(value, "server")) ? member(value, "server") : value;
  const named = textIn(server, "name")?.slice(0, 200);
  try {
    return read(server, member(member(value, "_meta"), official));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { name: named ?? "(without a name)", why: error.message };
  }
}

export function isRefused(server: RegistryServer | RefusedServer): server is RefusedServer {
  return "why" in server;
}

function read(server: unknown, state: unknown): RegistryServer {
  const name = required(server, "name");
  if (!isRegistryName(name)) throw new Refusal("its name is not NAMESPACE/NAME");
  const version = required(server, "version");
  if (version.length > 255 || !isExactVersion(version)) throw new Refusal(`"version" is not one exact version`);
  const packages = bounded(member(server, "packages"), most.packages, "packages").map(readPackage);
  const remotes = bounded(member(server, "remotes"), most.packages, "remotes").map(readRemote);
  const status = textIn(state, "status") ?? textIn(server, "status") ?? "active";
  if (status !== "active" && status !== "deprecated" && status !== "deleted")
    throw new Refusal(`its "status" is unknown`);
  return {
    name,
    version,
    title: optional(server, "title"),
    description: optional(server, "description") ?? "",
    websiteUrl: optional(server, "websiteUrl"),
    repository: optional(member(server, "repository"), "url"),
    status,
    statusMessage: optional(state, "statusMessage"),
    publishedAt: dateIn(state, "publishedAt"),
    isLatest: member(state, "isLatest") === true,
    packages,
    remotes,
  };
}

/** Whether the text names one version: no range, no tag such as `latest`, nothing that a program could read as an option. */
export function isExactVersion(text: string): boolean {
  return /^v?\d[\w.+!-]*$|^[\da-zA-Z][\w.+-]*\d[\w.+-]*$/.test(text) && !/(?:^|\.)[xX*](?:\.|$)/.test(text);
}

function readPackage(value: unknown): RegistryPackage {
  const old = oldMembers.find((key) => member(value, key) !== undefined);
  if (old !== undefined) throw new Refusal(`it has the old form of server.json ("${old}")`);
  const transport = member(value, "transport");
  const type = textIn(transport, "type") ?? "stdio";
  return {
    registryType: required(value, "registryType"),
    registryBaseUrl: optional(value, "registryBaseUrl"),
    identifier: required(value, "identifier"),
    version: optional(value, "version"),
    fileSha256: optional(value, "fileSha256"),
    runtimeArguments: bounded(member(value, "runtimeArguments"), most.arguments, "runtimeArguments").map(readArgument),
    packageArguments: bounded(member(value, "packageArguments"), most.arguments, "packageArguments").map(readArgument),
    environmentVariables: readNamed(value, "environmentVariables"),
    transport: type === "stdio" ? { type } : readRemote(transport),
  };
}

function readRemote(value: unknown): RegistryRemote {
  if (member(value, "transport_type") !== undefined)
    throw new Refusal(`it has the old form of server.json ("transport_type")`);
  const type = required(value, "type");
  if (type !== "streamable-http" && type !== "sse") throw new Refusal("it has a transport that Fairlead does not know");
  return { type, url: required(value, "url"), headers: readNamed(value, "headers"), variables: readVariables(value) };
}

function readNamed(owner: unknown, key: string): readonly NamedInput[] {
  return bounded(member(owner, key), most.arguments, key).map((value) => ({
    ...readInput(value),
    name: required(value, "name"),
    variables: readVariables(value),
  }));
}

function readArgument(value: unknown): RegistryArgument {
  const input = { ...readInput(value), variables: readVariables(value), isRepeated: flag(value, "isRepeated") };
  const type = required(value, "type");
  if (type === "named") return { ...input, type, name: required(value, "name") };
  if (type === "positional") return { ...input, type, valueHint: optional(value, "valueHint") };
  throw new Refusal("it has an argument that is neither positional nor named");
}

function readVariables(owner: unknown): Readonly<Record<string, RegistryInput>> {
  const value = member(owner, "variables");
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw new Refusal(`"variables" is not an object`);
  const names = Object.keys(value);
  if (names.length > most.variables) throw new Refusal(`"variables" has more than ${most.variables} members`);
  return Object.fromEntries(names.map((name) => [name, readInput(value[name])]));
}

function readInput(value: unknown): RegistryInput {
  const format = textIn(value, "format") ?? "string";
  const choices = bounded(member(value, "choices"), most.choices, "choices");
  return {
    description: optional(value, "description"),
    isRequired: flag(value, "isRequired"),
    isSecret: flag(value, "isSecret"),
    format: format === "number" || format === "boolean" || format === "filepath" ? format : "string",
    value: optional(value, "value"),
    default: optional(value, "default"),
    placeholder: optional(value, "placeholder"),
    choices: choices.map((choice) => text(choice, "choices")),
  };
}

function required(owner: unknown, key: string): string {
  const value = optional(owner, key);
  if (value === undefined || value === "") throw new Refusal(`"${key}" is missing`);
  return value;
}

function optional(owner: unknown, key: string): string | undefined {
  const value = member(owner, key);
  return value === undefined || value === null ? undefined : text(value, key);
}

/** Numbers and booleans stand for their text: `default: 8080` is in many entries. */
function text(value: unknown, key: string): string {
  const found = typeof value === "number" || typeof value === "boolean" ? String(value) : value;
  if (typeof found !== "string") throw new Refusal(`"${key}" is not a text`);
  if (found.length > most.text) throw new Refusal(`"${key}" has more than ${most.text} characters`);
  if (found.includes("\0")) throw new Refusal(`"${key}" contains a null character`);
  return found;
}

function flag(owner: unknown, key: string): boolean {
  return member(owner, key) === true;
}

function bounded(value: unknown, count: number, key: string): readonly unknown[] {
  const list = listOf(value ?? []);
  if (value !== undefined && value !== null && !Array.isArray(value)) throw new Refusal(`"${key}" is not a list`);
  if (list.length > count) throw new Refusal(`"${key}" has more than ${count} items`);
  return list;
}

function dateIn(owner: unknown, key: string): string | undefined {
  const value = optional(owner, key);
  return value === undefined || Number.isNaN(Date.parse(value)) ? undefined : value;
}
