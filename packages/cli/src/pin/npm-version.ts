/** The version of an npm package that would run now: what the registry says, or offline what npx has. */

import { readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { readText } from "@fairlead/core/files/read-text";
import { limits } from "@fairlead/core/limits";
import { isObject, listOf, member } from "@fairlead/wire/json";
import { type ExactName, type PinRequest, passedOn } from "./pin-request.ts";

/** A package of a registry, perhaps with a tag or a range; nothing that a shell would read otherwise. */
const specification = /^((?:@[\w.~-]+\/)?[\w.~-]+)(?:@([\w.~^*-]+))?$/;
const exactVersion = /^\d+\.\d+\.\d+[\w.+-]*$/;
const notReached =
  /^(?:ENOTFOUND|EAI_AGAIN|ECONN\w+|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENOTCACHED)$/;

export async function npmVersion(wanted: PinRequest): Promise<ExactName> {
  const { server, download, options, run } = wanted;
  const [, name, tag] = specification.exec(download.name) ?? [];
  if (name === undefined)
    throw new HostError("usage", `"${server}" runs ${download.name}, which is not the name of a package`, {
      serverName: server,
      next: "Only packages of a registry have versions to choose from.",
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
  const why = code === "E404" ? "there is no such package" : said;
  throw new HostError("unreachable", `npm does not say which version of ${download.name} would run: ${why}`, {
    serverName: server,
    next: `npm view ${download.name} version`,
  });
}

/** Where the launcher is a path, its own npm lies beside it. */
function npmOf(launcher: string): string {
  return /[/\\]np[mx](?:\.cmd)?$/.test(launcher) ? join(dirname(launcher), "npm") : "npm";
}

interface Missed {
  readonly name: string;
  readonly tag: string | undefined;
  readonly code: string;
}

/** The one that npx fetched last is the one it would run again. */
async function cached({ name, tag, code }: Missed, { server, env, home }: PinRequest): Promise<ExactName> {
  const cache = env.get("npm_config_cache") ?? env.get("NPM_CONFIG_CACHE") ?? join(home, ".npm");
  const folder = join(cache, "_npx");
  // Nothing was ever fetched here.
  const runs = tag === undefined || tag === "latest" ? await readdir(folder).catch(() => []) : [];
  const files = runs.map((run) => join(folder, run, "node_modules", name, "package.json"));
  const found = (await Promise.all(files.map(readVersion))).flatMap((one) => one ?? []);
  const [latest] = found.sort((a, b) => b.time - a.time);
  if (latest)
    return { name: `${name}@${latest.version}`, note: "the registry cannot be reached: this is what npx has" };
  throw new HostError("unreachable", `the registry cannot be reached (${code}), and npx has no ${name} yet`, {
    serverName: server,
    next: "Try again when the network is there.",
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
    // Something else than what was asked for: as good as no answer.
    return undefined;
  }
}

function firstLine(text: string): string | undefined {
  return text.split("\n").find((line) => line.trim() !== "");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
