/** Runs the relay of `fairlead serve` on stdio, connected to the background host of this installation. */

import { resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { parentVariable } from "@fairlead/core/trust";
import type { HostConnection } from "@fairlead/gateway/relay/connect-host";
import { findHost, type RelayHello } from "@fairlead/gateway/relay/find-host";
import { runRelay } from "@fairlead/gateway/relay/relay";
import { UnsafeRunFolder } from "@fairlead/gateway/relay/run-folder";
import type { RelayClient, RelayName } from "@fairlead/gateway/relay/speech";
import { errorMessage } from "@fairlead/wire/text";
import { type HostSurroundings, hostPlace } from "./installation.ts";

/** The standard streams of the relay's process. */
interface RelayStreams {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/**
 * Relays messages until the client has closed stdin and received all responses. Resolves with a message if no
 * background host can be reached. Nothing has been read from `stdin` then.
 */
export async function relayToHost(
  client: RelayClient,
  { stdin, stdout, stderr }: RelayStreams,
  surroundings: HostSurroundings,
): Promise<string | undefined> {
  async function reach(names: readonly RelayName[]): Promise<HostConnection> {
    const backgroundHost = hostPlace(surroundings);
    if (backgroundHost === undefined)
      throw new Error("Fairlead is not installed completely, or FAIRLEAD_HOME is not absolute");
    const greeting: RelayHello = { version: backgroundHost.version, wants: "serve", client: { ...client, names } };
    const found = await findHost(backgroundHost.folder, greeting);
    if (found !== undefined) return found;
    const { findOrStartHost } = await import("@fairlead/gateway/relay/start-host");
    return findOrStartHost(backgroundHost.folder, greeting, backgroundHost.command);
  }
  const onProblem = (message: string): void => void stderr.write(`fairlead: ${printable(message)}\n`);
  let first: HostConnection;
  try {
    first = await reach([]);
  } catch (error) {
    return error instanceof UnsafeRunFolder ? `${error.message} (${error.next})` : errorMessage(error);
  }
  if (stdin.isTTY)
    stderr.write("fairlead: waiting for an MCP client on stdin; to add Fairlead to a program: fairlead connect\n");
  const parent = watchParent(stdin);
  await runRelay({ input: stdin, output: stdout, first, reach, onProblem, signal: parent.signal });
  parent.stop();
  return undefined;
}

/** Returns the message that no background host can be used, so this process starts its own servers. */
export function aloneMessage(problem: string): string {
  return `fairlead: the background host cannot be used: ${printable(problem)}; this process starts its own servers\n`;
}

/** Removes control characters. Importing `SafeText` for this would take longer than loading the relay. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ");
}

// Parses the arguments of `fairlead serve` that a relay handles itself, without loading the command.

/** The name that rules and the history use for a client that gives no name. */
export const unnamedClient = "stdio";

type Options = { -readonly [Name in keyof RelayClient]?: RelayClient[Name] };

/**
 * Parses the words after `fairlead serve`. Returns undefined if the full command must run: for `--help`, `--http` and
 * other options that the relay does not handle, for a wrong value, and if a Fairlead gateway started this process.
 */
export function readRelayWords(
  words: readonly string[],
  { cwd, env }: Pick<RelayClient, "cwd" | "env">,
): RelayClient | undefined {
  if (env[parentVariable]) return undefined;
  const options: Options = {};
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (word === "--no-workspace") options.workspace = false;
    else if (word === "--trust-workspace") options.trustWorkspace = true;
    else if (word !== "--quiet" && word !== "-q") {
      const [name, inline] = split(word);
      const value = inline ?? words[at + 1];
      const take = takers[name];
      if (take === undefined || value === undefined || value === "" || value.startsWith("-")) return undefined;
      if (inline === undefined) at += 1;
      take(options, value, cwd);
    }
  }
  const { name = unnamedClient, workspace = true, trustWorkspace = false, ...rest } = options;
  return { name, cwd, env, workspace, trustWorkspace, ...rest };
}

function split(word: string): readonly [name: string, value?: string] {
  const at = word.indexOf("=");
  return at === -1 || !word.startsWith("--") ? [word] : [word.slice(0, at), word.slice(at + 1)];
}

const takers: Readonly<Record<string, (options: Options, value: string, cwd: string) => void>> = {
  "--client": (options, value) => {
    options.name = value;
  },
  "--servers": (options, value) => {
    options.servers = listIn(value);
  },
  "--tools": (options, value) => {
    options.tools = listIn(value);
  },
  "--settings": (options, value, cwd) => {
    options.settings = resolve(cwd, value);
  },
  "-C": (options, value, cwd) => {
    options.root = resolve(cwd, value);
  },
};

/** Splits names that are separated by commas. */
export function listIn(words: string): readonly string[] {
  return words
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

// Watches the program that started `fairlead serve`. After this program has ended, nothing reads the responses.

/** Milliseconds between two checks. Node has no event for the end of the parent process. */
const checkTime = 1000;

interface ParentWatch {
  /** Aborts when stdin has ended and the parent process has ended too. Never aborts on Windows. */
  readonly signal: AbortSignal;
  stop(): void;
}

/**
 * Starts to watch the parent process when stdin ends. If the parent ends, this process gets another parent, so the
 * parent's id changes.
 * @param parentOf Returns the id of the current parent process.
 */
export function watchParent(stdin: Readable, parentOf: () => number = () => process.ppid): ParentWatch {
  const ended = new AbortController();
  const parent = parentOf();
  let timer: NodeJS.Timeout | undefined;
  const onEnd = (): void => {
    timer ??= setInterval(() => {
      if (parentOf() !== parent) ended.abort();
    }, checkTime).unref();
  };
  stdin.once("end", onEnd);
  return {
    signal: ended.signal,
    stop() {
      stdin.off("end", onEnd);
      clearInterval(timer);
    },
  };
}
