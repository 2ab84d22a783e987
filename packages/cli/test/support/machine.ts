/** A small machine in a temporary folder, with a home and a project, and the command run in it without a terminal. */

import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import type { Clock } from "@fairlead/core/clock";
import { type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { main } from "../../src/shell/main.ts";

export interface Ending {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Machine extends TemporaryFolder {
  readonly home: string;
  readonly project: string;
  /** What a process on this machine would find in its environment. */
  readonly env: Readonly<Record<string, string>>;
  run(...argv: readonly string[]): Promise<Ending>;
  /** The same, elsewhere, with other variables or with something on stdin. */
  runWith(options: RunOptions, ...argv: readonly string[]): Promise<Ending>;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  /** How the command was started: Node and its first file. */
  readonly program?: { readonly node: string; readonly file?: string };
  /** To be aborted where a person would press Ctrl-C. */
  readonly signal?: AbortSignal;
  /** Measures how long the IDE may take to answer. */
  readonly clock?: Clock;
}

export const userFile = "home/.gemini/settings.json";
export const projectFile = "project/.gemini/settings.json";

/** `files` are paths below the machine's folder, like `userFile`. */
export async function machine(files: Readonly<Record<string, string | object>> = {}): Promise<Machine> {
  const folder = await temporaryFolder();
  const home = join(folder.path, "home");
  const project = join(folder.path, "project");
  await mkdir(home);
  await mkdir(join(project, ".gemini"), { recursive: true });
  for (const [name, content] of Object.entries(files)) await folder.write(name, content);
  // The command is installed here: what is shown can be typed as `fairlead …`.
  await folder.write("installed/fairlead", "");
  await chmod(join(folder.path, "installed/fairlead"), 0o755);
  const env = {
    HOME: home,
    PATH: `${join(folder.path, "installed")}:${process.env["PATH"] ?? ""}`,
    GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "etc/settings.json"),
    FAIRLEAD_SYSTEM_POLICIES_PATH: join(folder.path, "etc/policies"),
  };

  async function runWith(
    { cwd = project, stdin = "", ...options }: RunOptions,
    ...argv: readonly string[]
  ): Promise<Ending> {
    const [stdout, stderr] = [collector(), collector()];
    const streams = { stdin: Readable.from([Buffer.from(stdin)]), stdout: stdout.stream, stderr: stderr.stream };
    const around = surroundings({ home, cwd, env: { ...env, ...options.env } });
    const code = await main(argv, {
      ...streams,
      ...around,
      ...(options.signal && { signal: options.signal }),
      ...(options.program && { program: options.program }),
      ...(options.clock && { clock: options.clock }),
    });
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  }

  return { ...folder, home, project, env, runWith, run: (...argv) => runWith({}, ...argv) };
}

interface Surroundings {
  readonly home: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

function surroundings(given: Surroundings) {
  return { ...given, platform: process.platform, signal: new AbortController().signal };
}

/** Runs the command in this process and returns both of its streams as one text, in the order of their lines, as a terminal shows them. */
export async function shownBy(argv: readonly string[], given: Surroundings): Promise<string> {
  return (await endingBy(argv, given)).shown;
}

/** The same, with the exit code. */
export async function endingBy(argv: readonly string[], given: Surroundings): Promise<{ code: number; shown: string }> {
  const { stream, text } = collector();
  const code = await main(argv, { stdin: Readable.from([]), stdout: stream, stderr: stream, ...surroundings(given) });
  return { code, shown: text() };
}

function collector(): { readonly stream: Writable; readonly text: () => string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString("utf8") };
}

/** The `mcpServers` of a settings file on the machine. */
export async function entries(here: Machine, file: string): Promise<unknown> {
  return (JSON.parse(await here.read(file)) as { mcpServers: unknown }).mcpServers;
}

/** Commands that start the background host on a terminal. */
const starting = /^(call|read|prompts?|tools|resources|mcp list)\b/;

/**
 * The environment in which a command on a terminal starts no background host. The app draws nothing in CI, so only the
 * commands that would start a host get the variable. Tests of the host give `CI` themselves.
 */
export function withoutHost(env: Machine["env"], line: string): Machine["env"] {
  return starting.test(line) ? { CI: "true", ...env } : env;
}
