/** Finds the version of an npm package that would run now: from the registry, or offline from npx's cache. */

import { readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { readText } from "@fairlead/core/files/read-text";
import { limits } from "@fairlead/core/limits";
import { isObject, listOf, member } from "@fairlead/wire/json";
import { type ExactName, type PinRequest, passedOn } from "./run-program.ts";

/** A registry package with an optional tag or range; allows no characters that are special in a shell. */
const specification = /^((?:@[\w.~-]+\/)?[\w.~-]+)(?:@([\w.~^*-]+))?$/;
const exactVersion = /^\d+\.\d+\.\d+[\w.+-]*$/;
const notReached =
  /^(?:ENOTFOUND|EAI_AGAIN|ECONN\w+|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENOTCACHED)$/;

export async function npmVersion(wanted: PinRequest): Promise<ExactName> {
  const { server, download, options, run } = wanted;
  const [, name, tag] = specification.exec(download.name) ?? [];
  if (name === undefined)
    throw new HostError("usage", `"${server}" cannot be pinned: ${download.name} is not a package name`, {
      serverName: server,
      next: "use a package of the npm registry",
    });
  const registry = passedOn(options, ["--registry"]);
  const asked = ["view", download.name, "version", "--json", "--fetch-retries=0", ...registry];
  const { stdout, stderr } = await run(npmOf(download.launcher), asked);
  const answer = parse(stdout);
  const version: unknown = Array.isArray(answer) ? listOf(answer).at(-1) : answer;
  if (typeof version === "string" && exactVersion.test(version)) return { name: `${name}@${version}` };
  const failure = member(answer, "error");
  const code = textOf(member(failure, "code"));
  if (notReached.test(code)) return cached({ name, tag, code }, wanted);
  const said = firstLine(textOf(member(failure, "summary"))) ?? firstLine(stderr) ?? "it said nothing";
  const why = code === "E404" ? "no such package" : said;
  throw new HostError("unreachable", `version of ${download.name} not found: npm: ${why}`, {
    serverName: server,
    next: `npm view ${download.name} version`,
  });
}

/** If the launcher is a path, uses the npm in the same folder. */
function npmOf(launcher: string): string {
  return /[/\\]np[mx](?:\.cmd)?$/.test(launcher) ? join(dirname(launcher), "npm") : "npm";
}

interface Missed {
  readonly name: string;
  readonly tag: string | undefined;
  readonly code: string;
}

/** Offline, npx runs the version that it downloaded last. */
async function cached({ name, tag, code }: Missed, { server, env, home }: PinRequest): Promise<ExactName> {
  const cache = env.get("npm_config_cache") ?? env.get("NPM_CONFIG_CACHE") ?? join(home, ".npm");
  const folder = join(cache, "_npx");
  // The folder does not exist: npx has downloaded nothing.
  const runs = tag === undefined || tag === "latest" ? await readdir(folder).catch(() => []) : [];
  const files = runs.map((run) => join(folder, run, "node_modules", name, "package.json"));
  const found = (await Promise.all(files.map(readVersion))).flatMap((one) => one ?? []);
  const [latest] = found.sort((a, b) => b.time - a.time);
  if (latest)
    return {
      name: `${name}@${latest.version}`,
      note: "the registry cannot be reached; this version is from npx's cache",
    };
  throw new HostError("unreachable", `the registry cannot be reached (${code}), and npx has not downloaded ${name}`, {
    serverName: server,
    next: "try again with a network connection",
  });
}

async function readVersion(file: string): Promise<{ readonly version: string; readonly time: number } | undefined> {
  const read = await readText(file, limits.settingsBytes);
  const version = read.kind === "text" ? member(parse(read.text), "version") : undefined;
  if (typeof version !== "string" || !exactVersion.test(version)) return undefined;
  return { version, time: (await stat(file)).mtimeMs };
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) || Array.isArray(value) || typeof value === "string" ? value : undefined;
  } catch {
    // Not JSON: treated as no answer.
    return undefined;
  }
}

function firstLine(text: string): string | undefined {
  return text.split("\n").find((line) => line.trim() !== "");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
