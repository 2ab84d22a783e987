/**
 * Finds what npm itself wrote down about a start. `npx` prints nothing while it waits for the registry, so its log is
 * the only place that says why a server does not start.
 */

import { readdir } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { StdioTarget } from "@fairlead/wire";
import { readText } from "../files/read-text.ts";
import type { StdioTransport } from "../settings/define/definition.ts";
import type { Environment } from "../settings/read/paths.ts";
import { launcherOf } from "./connect-timeout.ts";

export interface NpmLog {
  /** The log file of this start. If several files could be meant, or none, the folder of npm's logs. */
  readonly path: string;
  /** The last failed request to the registry, if the log has one. */
  readonly failed?: FailedFetch;
}

/** A request of npm that got no response. */
export interface FailedFetch {
  readonly host: string;
  /** The system's error code, such as `EAI_AGAIN`. */
  readonly code: string;
}

const npmLaunchers: ReadonlySet<string> = new Set(["npx", "npm exec", "npm x"]);
/** npm keeps ten logs unless its settings say otherwise. */
const mostFiles = 20;
const mostBytes = 1_048_576;

/**
 * Returns npm's log of the start. Undefined if npm does not start the server. Never rejects.
 *
 * @param env The program's environment.
 * @param startedAt When the program was started, in milliseconds since 1970.
 */
export async function findNpmLog(
  transport: StdioTransport,
  env: StdioTarget["env"],
  environment: Pick<Environment, "home" | "platform">,
  startedAt: number,
): Promise<NpmLog | undefined> {
  const launcher = launcherOf(transport);
  if (launcher === undefined || !npmLaunchers.has(launcher)) return undefined;
  const folder = await logFolder(env, environment);
  const names = await readdir(folder).catch(() => []);
  const recent = names.filter((name) => timeIn(name) >= startedAt).sort();
  const logs: { readonly path: string; readonly text: string }[] = [];
  for (const name of recent.slice(-mostFiles)) {
    const path = join(folder, name);
    const read = await readText(path, mostBytes);
    if (read.kind === "text" && isLogOf(read.text, transport)) logs.push({ path, text: read.text });
  }
  const [log, second] = logs;
  if (log === undefined || second !== undefined) return { path: folder };
  return { path: log.path, failed: failedFetch(log.text) };
}

/** npm's settings `logs-dir` and `cache`, from the environment and the user's `.npmrc`, or npm's default. */
async function logFolder(
  env: StdioTarget["env"],
  { home, platform }: Pick<Environment, "home" | "platform">,
): Promise<string> {
  const file = await readText(join(home, ".npmrc"), mostBytes);
  const lines = file.kind === "text" ? file.text.split(/\r?\n/) : [];
  const setting = (key: string): string | undefined => {
    const variable = `npm_config_${key.replaceAll("-", "_")}`;
    const [, given] = Object.entries(env).find(([name]) => name.toLowerCase() === variable) ?? [];
    const line = lines.find((text) => text.split("=")[0]?.trim() === key);
    const value = given || line?.slice(line.indexOf("=") + 1).trim();
    // A relative path or a variable in the file is npm's to expand, so the default is the better guess.
    return value !== undefined && isAbsolute(value) ? value : undefined;
  };
  const usual = platform === "win32" ? join(home, "AppData", "Local", "npm-cache") : join(home, ".npm");
  return setting("logs-dir") ?? join(setting("cache") ?? usual, "_logs");
}

/** The time in the name of a log such as `2030-01-02T03_04_05_678Z-debug-0.log`. -1 if there is none. */
function timeIn(name: string): number {
  const [, day, hour, minute, second, fraction] =
    /^(\d{4}-\d\d-\d\d)T(\d\d)_(\d\d)_(\d\d)_(\d{3})Z-debug-\d+\.log$/.exec(name) ?? [];
  return day === undefined ? -1 : Date.parse(`${day}T${hour}:${minute}:${second}.${fraction}Z`);
}

/** Whether the log begins with the words of this start. */
function isLogOf(text: string, { args }: StdioTransport): boolean {
  const [, argv = ""] = /^\d+ verbose argv (.*)$/m.exec(text) ?? [];
  // npm writes options in its own form, and hides what looks like a secret in the arguments.
  const isPackage = (word: string): boolean => /^@?[a-z0-9]/i.test(word) && !/^(exec|x)$/.test(word);
  const name = args.find(isPackage);
  return name !== undefined && argv.includes(JSON.stringify(name));
}

function failedFetch(text: string): FailedFetch | undefined {
  const line = text.split("\n").findLast((other) => fetchLine.test(other)) ?? "";
  const [, address = "", code = ""] = fetchLine.exec(line) ?? [];
  return URL.canParse(address) ? { host: new URL(address).host, code } : undefined;
}

const fetchLine = /\bhttp fetch [A-Z]+ (\S+) attempt \d+ failed with (E[A-Z_]+)\s*$/;
