/** `fairlead mcp logs`: what a server wrote to stderr, what we noted about it and, after `--debug`, what crossed the wire. */

import { readFile } from "node:fs/promises";
import { logPath } from "@fairlead/core/connect/server-log";
import { HostError } from "@fairlead/core/errors";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { configurationOf } from "../../shell/configuration.ts";
import { followFile } from "../../shell/follow-file.ts";
import { createLogFilter, type FilterOptions } from "../../shell/log-filter.ts";
import type { Verb } from "../../shell/verb.ts";
import { findServer } from "./find-server.ts";

interface Options extends FilterOptions {
  readonly follow?: boolean;
  readonly path?: boolean;
}

export const verb: Verb = {
  define(command) {
    command
      .argument("<name>", "as in fairlead mcp list")
      .option("-f, --follow", "go on as lines come; Ctrl-C ends it")
      .option("--since <when>", "only from then on: 10m, 2h, 3d ago, or a time like 2026-01-31T08:30")
      .option("--grep <pattern>", "only lines that match this regular expression; capitals count if it has some")
      .option("--path", "print where the log is, and nothing else")
      .addHelpText(
        "after",
        `
Each line has its time, what it is (stderr: the server's own; wire: a message, with --debug; note: ours) and the text.
Secrets that Fairlead knows of are left out when the log is written. A log is kept up to 3 MB; its oldest part goes first.

Examples:
  fairlead mcp logs github
  fairlead mcp logs github -f
  fairlead mcp logs github --since 10m --grep error
  fairlead mcp list --debug=github; fairlead mcp logs github --grep wire
  tail -n 20 "$(fairlead mcp logs github --path)"`,
      );
  },

  async run(context) {
    const { io, out, globals, command, operands } = context;
    const [name = ""] = operands;
    const { follow = false, path: onlyPath = false, ...options } = command.opts<Options>();
    if (follow && globals.json) throw new HostError("usage", "--json prints one document, and -f has no end");
    const isWanted = createLogFilter(options, Date.now());
    const configuration = await configurationOf(context);
    const path = logPath(configuration.locations.state, name);
    const [earlier, last] = await Promise.all([readEarlier(path), readLines(path)]);
    // The log of a server that has been removed since is still there to be read.
    if (last === undefined) findServer(configuration, name);
    if (onlyPath) return globals.json ? out.json({ name, path }) : out.print(toSafeLine(path));

    const lines = [...earlier, ...(follow ? [] : (last ?? []))].filter(isWanted);
    if (globals.json) return out.json({ name, path, lines: lines.map(toDocument) });
    for (const line of lines) out.print(toSafeLine(line));
    if (follow) {
      for await (const line of followFile(path, io.signal)) if (isWanted(line)) out.print(toSafeLine(line));
    } else if (last === undefined) out.say(safe`"${toSafeLine(name)}" has no log yet: ${toSafeLine(path)}`);
    else if (lines.length === 0) out.say(safe`no line of the log matches`);
  },
};

/** What has been rotated away, oldest first. */
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
