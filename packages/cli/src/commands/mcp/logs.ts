/** `fairlead mcp logs`: shows a server's log: its stderr, Fairlead's notes and, with `--debug`, protocol messages. */

import { logPath } from "@fairlead/core/connect/server-log";
import { HostError } from "@fairlead/core/errors";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { configurationOf } from "../../shell/configuration.ts";
import { createLogFilter, type FilterOptions, followLog, readLogLines } from "../../shell/log-lines.ts";
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
      .argument("<name>", "name of the server (see: fairlead mcp list)")
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
    const [earlier, last] = await Promise.all([readEarlier(path), readLogLines(path)]);
    // A removed server may still have a log. If there is no log, the name must be in the settings.
    if (last === undefined) findServer(configuration, name);
    if (onlyPath) return globals.json ? out.json({ name, path }) : out.print(toSafeLine(path));

    const lines = [...earlier, ...(follow ? [] : (last ?? []))].filter(isWanted);
    if (globals.json) return out.json({ name, path, lines: lines.map(toDocument) });
    for (const line of lines) out.print(toSafeLine(line));
    if (follow) {
      for await (const line of followLog(path, io.signal)) if (isWanted(line)) out.print(toSafeLine(line));
    } else if (last === undefined) out.say(safe`"${toSafeLine(name)}" has no log yet: ${toSafeLine(path)}`);
    else if (lines.length === 0) out.say(safe`no matching lines`);
  },
};

/** Reads the lines of all rotated log files, oldest first. */
async function readEarlier(path: string): Promise<readonly string[]> {
  const parts = await Promise.all([readLogLines(`${path}.2`), readLogLines(`${path}.1`)]);
  return parts.flatMap((lines) => lines ?? []);
}

function toDocument(line: string): object {
  const [time = "", kind = ""] = line.split(" ", 2);
  return { time, kind, text: line.slice(time.length + kind.length + 2) };
}
