/**
 * Turns a package or a remote of a registry into an entry of the settings: a list of arguments, never a shell line. The
 * kind of the package alone chooses the program.
 */

import { isLoopbackHost } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import { parseUrl } from "@fairlead/wire/text";
import { escapeDollars, type InputAnswers, InputFiller, type InputQuestion, type NewSecret } from "./inputs.ts";
import {
  isExactVersion,
  type RegistryArgument,
  type RegistryInput,
  type RegistryPackage,
  type RegistryRemote,
  type RegistryServer,
} from "./server-json.ts";

/** One way to use a server. */
export interface ServerChoice {
  /** `npm`, `pypi`, `oci`, `nuget`, `mcpb`, another kind, or `remote`. */
  readonly kind: string;
  /** The package with its version, or the address. */
  readonly label: string;
  /** Where it runs: Fairlead can put a program into a sandbox; a container is one; a remote server runs elsewhere. */
  readonly runs: "program" | "container" | "remote";
  readonly package?: RegistryPackage;
  readonly remote?: RegistryRemote;
  /** Why Fairlead does not use it. Absent: it can be used. */
  readonly unusable?: string;
}

/** An entry for `mcpServers`, and what belongs to it. */
export interface PlannedEntry {
  readonly entry: Readonly<Record<string, unknown>>;
  /** To be stored before the entry is written. */
  readonly secrets: readonly NewSecret[];
  /** The answers, for a later version. */
  readonly inputs: Readonly<Record<string, string>>;
}

/** All ways to use a server: streamable HTTP first, then packages, then SSE, which many servers have given up. */
export function choicesOf({ packages, remotes }: RegistryServer): readonly ServerChoice[] {
  const ofRemotes = remotes.map((remote): ServerChoice => {
    const unusable = whyUnusable({ remote });
    return { kind: "remote", label: remote.url, runs: "remote", remote, ...(unusable && { unusable }) };
  });
  const ofPackages = packages.map((each): ServerChoice => {
    const { registryType: kind, identifier, version } = each;
    const unusable = whyUnusable({ package: each });
    const label = version === undefined || kind === "oci" ? identifier : `${identifier} ${version}`;
    return {
      kind,
      label,
      runs: kind === "oci" ? "container" : "program",
      package: each,
      ...(unusable && { unusable }),
    };
  });
  const isOld = ({ remote }: ServerChoice): boolean => remote?.type === "sse";
  return [...ofRemotes.filter((one) => !isOld(one)), ...ofPackages, ...ofRemotes.filter(isOld)];
}

function whyUnusable(choice: Pick<ServerChoice, "package" | "remote">): string | undefined {
  if (choice.package?.registryType === "mcpb") return whyUnusableBundle(choice.package);
  try {
    entryOf(choice, new InputFiller(new Map(), (name) => name));
    return undefined;
  } catch (error) {
    if (error instanceof HostError) return error.message;
    throw error;
  }
}

/** A bundle says itself what it runs. The registry says where it is and proves it by its digest. */
function whyUnusableBundle({ identifier, fileSha256 = "" }: RegistryPackage): string | undefined {
  if (!isSafeUrl(parseUrl(identifier))) return "the address of the bundle is not an https address";
  return /^[0-9a-f]{64}$/i.test(fileSha256) ? undefined : "the registry has no SHA-256 of the bundle";
}

/** What the user is asked before the server can be added. */
export function questionsOf(choice: ServerChoice): readonly InputQuestion[] {
  const filler = new InputFiller(new Map(), (name) => name);
  entryOf(choice, filler);
  return filler.questions;
}

/**
 * Builds the entry.
 *
 * @param secretName The name in the secret store for the value of an input.
 * @throws HostError `usage` if an answer does not fit, is missing, or belongs to no question
 */
export function planEntry(
  choice: ServerChoice,
  answers: InputAnswers,
  secretName: (input: string) => string,
): PlannedEntry {
  const filler = new InputFiller(answers, secretName);
  const entry = entryOf(choice, filler);
  const names = filler.questions.map(({ name }) => name);
  const unknown = [...answers.keys()].find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new HostError("usage", `there is no input "${unknown}"`, {
      next: names.length === 0 ? "the server has no inputs" : `inputs of this server: ${names.join(", ")}`,
    });
  if (filler.missing.length > 0)
    throw new HostError("usage", `missing inputs: ${filler.missing.join(", ")}`, {
      next: `add ${filler.missing.map((name) => `--input ${name}=VALUE`).join(" ")}`,
    });
  if (choice.remote !== undefined) checkUrl(String(entry["httpUrl"] ?? entry["url"]));
  return { entry, secrets: filler.secrets, inputs: filler.given };
}

type Entry = Readonly<Record<string, unknown>>;

function entryOf({ package: program, remote }: Pick<ServerChoice, "package" | "remote">, filler: InputFiller): Entry {
  if (remote !== undefined) return remoteEntry(remote, filler);
  if (program === undefined) throw refuse("there is neither a package nor a remote");
  if (program.transport.type !== "stdio")
    throw refuse("the package starts an HTTP server; start it yourself, and add its URL");
  switch (program.registryType) {
    case "npm":
      return npmEntry(program, filler);
    case "pypi":
      return pypiEntry(program, filler);
    case "nuget":
      return nugetEntry(program, filler);
    case "oci":
      return ociEntry(program, filler);
    default:
      throw refuse(`Fairlead does not run packages of the kind "${program.registryType}"`);
  }
}

function refuse(message: string): HostError {
  return new HostError("usage", message);
}

// Packages. The name and the version are checked, because the program could read them as an option or an address.

const npmName = /^(?:@[a-zA-Z0-9~][\w.~-]*\/)?[a-zA-Z0-9~][\w.~-]*$/;
const pythonName = /^[a-zA-Z0-9](?:[\w.-]*[a-zA-Z0-9])?$/;
const nugetName = /^[a-zA-Z0-9_][\w.-]*$/;
const imageName =
  /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?(?::\d{1,5})?\/)?[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*(?::[\w][\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/;
const ownBases = new Map([
  ["npm", "https://registry.npmjs.org"],
  ["pypi", "https://pypi.org"],
  ["nuget", "https://api.nuget.org"],
]);

function npmEntry(program: RegistryPackage, filler: InputFiller): Entry {
  const name = checkedPackage(program, npmName);
  const options = runtimeWords(program, filler, npmOptions);
  const isYes = options.some((word) => word === "-y" || word === "--yes");
  const args = [...(isYes ? [] : ["-y"]), ...options, name, ...words(program.packageArguments, filler)];
  return { command: "npx", args, ...environment(program, filler) };
}

function pypiEntry(program: RegistryPackage, filler: InputFiller): Entry {
  const name = checkedPackage(program, pythonName);
  const args = [...runtimeWords(program, filler, pythonOptions), name, ...words(program.packageArguments, filler)];
  return { command: "uvx", args, ...environment(program, filler) };
}

function nugetEntry(program: RegistryPackage, filler: InputFiller): Entry {
  const name = checkedPackage(program, nugetName);
  const options = runtimeWords(program, filler, nugetOptions).filter((word) => word !== "--yes" && word !== "-y");
  const own = words(program.packageArguments, filler);
  const args = [name, ...options, "--yes", ...(own.length > 0 ? ["--", ...own] : [])];
  return { command: "dnx", args, ...environment(program, filler) };
}

function ociEntry(program: RegistryPackage, filler: InputFiller): Entry {
  const image = imageOf(program);
  const own = new Set(["run", "-i", "--interactive", "--rm"]);
  const options = runtimeWords(program, filler, imageOptions).filter((word) => !own.has(word));
  const { env = {} } = environment(program, filler);
  const passed = Object.keys(env).flatMap((name) => ["-e", name]);
  const args = ["run", "-i", "--rm", ...passed, ...options, image, ...words(program.packageArguments, filler)];
  return { command: "docker", args, ...(Object.keys(env).length > 0 && { env }) };
}

/** The package with its exact version. */
function checkedPackage(
  { registryType, identifier, version = "", registryBaseUrl }: RegistryPackage,
  name: RegExp,
): string {
  if (!name.test(identifier)) throw refuse(`"${identifier}" is not the name of a package`);
  if (!isExactVersion(version)) throw refuse(`"${version}" is not one exact version of ${identifier}`);
  const base = ownBases.get(registryType);
  if (registryBaseUrl !== undefined && base !== undefined && parseUrl(registryBaseUrl)?.origin !== base)
    throw refuse(`${identifier} is not in the usual registry of its kind, but at ${registryBaseUrl}`);
  return `${identifier}@${version}`;
}

/** The image with its tag or digest. */
export function imageOf({ identifier, version, registryBaseUrl }: RegistryPackage): string {
  const base = registryBaseUrl === undefined ? undefined : parseUrl(registryBaseUrl);
  if (registryBaseUrl !== undefined && base?.protocol !== "https:")
    throw refuse(`the image registry ${registryBaseUrl} is not an https address`);
  const host = base === undefined || base.host === "docker.io" ? undefined : base.host;
  const named = host === undefined || identifier.startsWith(`${host}/`) ? identifier : `${host}/${identifier}`;
  const hasTag = /(?::[\w][\w.-]*|@sha256:[0-9a-f]+)$/.test(named.slice(named.lastIndexOf("/") + 1));
  const image = hasTag || version === undefined ? named : `${named}:${version}`;
  if (!imageName.test(image)) throw refuse(`"${image}" is not the name of an image`);
  if (!image.includes("@sha256:") && (!/:[^/]+$/.test(image) || image.endsWith(":latest")))
    throw refuse(`the image ${image} has no exact version`);
  return image;
}

// Options of the program that fetches the package. Others could make it run something else, so they are refused.

interface AllowedOptions {
  readonly alone: readonly string[];
  readonly withValue: readonly string[];
}

const npmOptions: AllowedOptions = {
  alone: ["-y", "--yes", "-q", "--quiet", "--silent", "--prefer-offline", "--prefer-online"],
  withValue: [],
};
const pythonOptions: AllowedOptions = {
  alone: ["-q", "--quiet", "--isolated", "--no-cache", "--refresh", "--no-progress"],
  withValue: ["-p", "--python", "--prerelease"],
};
const nugetOptions: AllowedOptions = { alone: ["-y", "--yes"], withValue: ["--verbosity"] };
const imageOptions: AllowedOptions = {
  alone: ["run", "-i", "--interactive", "--rm", "--init", "--read-only"],
  withValue: [
    "-e",
    "--env",
    "-v",
    "--volume",
    "--mount",
    "--tmpfs",
    "-p",
    "--publish",
    "--network",
    "--add-host",
    "-u",
    "--user",
    "-w",
    "--workdir",
    "-m",
    "--memory",
    "--cpus",
    "--platform",
    "--pull",
    "--name",
    "--label",
  ],
};

function runtimeWords(program: RegistryPackage, filler: InputFiller, allowed: AllowedOptions): readonly string[] {
  const all = words(program.runtimeArguments, filler);
  let isValue = false;
  for (const word of all) {
    if (isValue) {
      isValue = false;
      continue;
    }
    const [option = "", ...value] = word.split("=");
    if (allowed.alone.includes(word)) continue;
    if (!allowed.withValue.includes(option))
      throw refuse(`the publisher wants the option "${word}", which could make it run another program`);
    isValue = value.length === 0;
  }
  if (isValue) throw refuse(`the option "${all.at(-1)}" has no value`);
  return all;
}

function words(all: readonly RegistryArgument[], filler: InputFiller): readonly string[] {
  return all.flatMap((argument, at) => {
    if (argument.type === "positional")
      return filler.fill(argument.valueHint ?? `argument-${at + 1}`, argument, argument.isRepeated);
    const { name } = argument;
    if (!/^-{0,2}[a-zA-Z0-9][\w.:-]*$/.test(name)) throw refuse(`"${name}" is not the name of an argument`);
    if (isBare(argument)) return [name];
    return filler.fill(name.replace(/^-+/, ""), argument, argument.isRepeated).map((value) => `${name}=${value}`);
  });
}

/** A named argument about which the publisher says nothing is a flag of its own, such as `-y`. */
function isBare({
  value,
  default: usual,
  choices,
  isRequired,
  isSecret,
  format,
  description,
  placeholder,
}: RegistryArgument): boolean {
  const isOpen = usual !== undefined || choices.length > 0 || isRequired || isSecret || format !== "string";
  return value === undefined && !isOpen && description === undefined && placeholder === undefined;
}

// Environment variables.

/** Variables that choose which program runs, where packages come from, or what Fairlead does. */
const reserved =
  /^(?:PATH|HOME|PATHEXT|COMSPEC|SHELL|ENV|BASH_ENV|IFS|NODE_OPTIONS|NODE_PATH|NODE_EXTRA_CA_CERTS|PYTHON(?:PATH|HOME|STARTUP|USERBASE)|(?:LD|DYLD|NPM_CONFIG|UV|PIP|DOCKER|DOTNET|NUGET|FAIRLEAD|GEMINI_CLI)_.*)$/i;

function environment(
  { environmentVariables }: RegistryPackage,
  filler: InputFiller,
): { readonly env?: Record<string, string> } {
  const env = new Map<string, string>();
  for (const variable of environmentVariables) {
    const { name } = variable;
    if (!/^[A-Za-z_]\w*$/.test(name)) throw refuse(`"${name}" is not the name of a variable`);
    if (reserved.test(name))
      throw refuse(`the publisher wants to set the variable ${name}, which could make it run another program`);
    const [value] = filler.fill(name, variable);
    if (value !== undefined) env.set(name, value);
  }
  return env.size === 0 ? {} : { env: Object.fromEntries(env) };
}

// Remotes.

function remoteEntry({ type, url, headers, variables }: RegistryRemote, filler: InputFiller): Entry {
  // An address with a hole leads nowhere, so each variable needs a value.
  const needed = Object.entries(variables).map(([name, variable]): [string, RegistryInput] => [
    name,
    { ...variable, isRequired: true },
  ]);
  const template = { ...noInput, value: url, variables: Object.fromEntries<RegistryInput>(needed) };
  const [address = escapeDollars(url)]: readonly string[] = filler.fill("url", template);
  if (Object.keys(variables).length === 0) checkUrl(address);
  const filled = headers.flatMap((header): [string, string][] => {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(header.name)) throw refuse(`"${header.name}" is not the name of a header`);
    if (/^(?:host|content-length|transfer-encoding|connection|mcp-.*)$/i.test(header.name))
      throw refuse(`the publisher wants to set the header ${header.name}, which belongs to the protocol`);
    const [value] = filler.fill(header.name, header);
    return value === undefined ? [] : [[header.name, value]];
  });
  const more = filled.length === 0 ? {} : { headers: Object.fromEntries(filled) };
  return type === "sse" ? { url: address, type: "sse", ...more } : { httpUrl: address, ...more };
}

const noInput = {
  description: undefined,
  isRequired: false,
  isSecret: false,
  format: "string",
  default: undefined,
  placeholder: undefined,
  choices: [],
} as const;

function isSafeUrl(url: URL | undefined): boolean {
  return url?.protocol === "https:" || (url?.protocol === "http:" && isLoopbackHost(url.hostname));
}

function checkUrl(written: string): void {
  const url = parseUrl(written.replaceAll(/\$\{secret:[^}]*\}/g, "secret").replaceAll("$$", "$"));
  if (url === undefined || !isSafeUrl(url)) throw refuse(`the address ${written} is not an https address`);
  if (url.username !== "" || url.password !== "") throw refuse("the address contains a user name or password");
}
