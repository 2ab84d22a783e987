/** `fairlead mcp logs`: shows a server's log: its stderr, Fairlead's notes and, with `--debug`, protocol messages. */

import { type FileHandle, open, readFile, stat } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import { logPath } from "@fairlead/core/connect/server-log";
import { HostError } from "@fairlead/core/errors";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { configurationOf } from "../../shell/configuration.ts";
import { createLogFilter, type FilterOptions } from "../../shell/log-filter.ts";
import type { Verb } from "../../shell/verb.ts";
import { findServer } from "./find-server.ts";

interface Options extends FilterOptions {
  readonly follow?: boolean;
  readonly path?: boolean;
}

export const verb: Verb = {
  help: `
Each line has a time, a kind and the text. Kinds: stderr (written by the server), wire (protocol messages, with --debug),
note (written by Fairlead). Known secrets are never written to the log. A log keeps the latest 3 MB.

Examples:
  fairlead mcp logs github
  fairlead mcp logs github -f
  fairlead mcp logs github --since 10m --grep error
  fairlead mcp list --debug=github; fairlead mcp logs github --grep wire
  tail -n 20 "$(fairlead mcp logs github --path)"`,

  define(command) {
    command
      .argument("<name>", "name from fairlead mcp list")
      .option("-f, --follow", "keep printing new lines until Ctrl-C")
      .option("--since <when>", "only newer entries: 10m, 2h or 3d ago, or a time like 2026-01-31T08:30")
      .option(
        "--grep <pattern>",
        "only lines that match this regular expression; case-sensitive if it has capital letters",
      )
      .option("--path", "print only the path of the log file");
  },

  async run(context) {
    const { io, out, globals, command, operands } = context;
    const [name = ""] = operands;
    const { follow = false, path: onlyPath = false, ...options } = command.opts<Options>();
    if (follow && globals.json)
      throw new HostError("usage", "--json and -f cannot be combined: --json prints one document, and -f never ends");
    const isWanted = createLogFilter(options, Date.now());
    const configuration = await configurationOf(context);
    const path = logPath(configuration.locations.state, name);
    const [earlier, last] = await Promise.all([readEarlier(path), readLines(path)]);
    // A removed server may still have a log.
    if (last === undefined) findServer(configuration, name);
    if (onlyPath) return globals.json ? out.json({ name, path }) : out.print(toSafeLine(path));

    const lines = [...earlier, ...(follow ? [] : (last ?? []))].filter(isWanted);
    if (globals.json) return out.json({ name, path, lines: lines.map(toDocument) });
    for (const line of lines) out.print(toSafeLine(line));
    if (follow) {
      for await (const line of followFile(path, io.signal)) if (isWanted(line)) out.print(toSafeLine(line));
    } else if (last === undefined) out.say(safe`"${toSafeLine(name)}" has no log yet: ${toSafeLine(path)}`);
    else if (lines.length === 0) out.say(safe`no matching lines`);
  },
};

/** The lines of rotated log files, oldest first. */
async function readEarlier(path: string): Promise<readonly string[]> {
  const parts = await Promise.all([readLines(`${path}.2`), readLines(`${path}.1`)]);
  return parts.flatMap((lines) => lines ?? []);
}

async function readLines(path: string): Promise<readonly string[] | undefined> {
  try {
    return (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function toDocument(line: string): object {
  const [time = "", kind = ""] = line.split(" ", 2);
  return { time, kind, text: line.slice(time.length + kind.length + 2) };
}

/** Milliseconds between two checks of the file. */
const interval = 250;

/** Yields lines from the beginning of the file and waits for a file that does not exist yet. Only `signal` ends it, by throwing its reason. */
async function* followFile(path: string, signal: AbortSignal): AsyncGenerator<string> {
  for (;;) {
    const file = await openIfThere(path);
    if (file) {
      try {
        yield* linesOf(file, path, signal);
      } finally {
        await file.close();
      }
    } else await sleep(interval, undefined, { signal });
  }
}

/** Yields lines until the path names another file. */
async function* linesOf(file: FileHandle, path: string, signal: AbortSignal): AsyncGenerator<string> {
  const { ino } = await file.stat();
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for (;;) {
    // Checked before reading, so that the last lines before a rotation are still read.
    const isReplaced = (await inode(path)) !== ino;
    for await (const chunk of chunksOf(file)) {
      const lines = (rest + decoder.write(chunk)).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
    if (isReplaced) return;
    await sleep(interval, undefined, { signal });
  }
}

async function* chunksOf(file: FileHandle): AsyncGenerator<Buffer> {
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(65_536));
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  return open(path).catch(unlessAbsent);
}

async function inode(path: string): Promise<number | undefined> {
  return (await stat(path).catch(unlessAbsent))?.ino;
}

function unlessAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
