/** `fairlead mcp logs`: shows a server's log: its stderr, Fairlead's notes and, with `--debug`, protocol messages. */

import { logPath } from "@fairlead/core/connect";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { configurationOf } from "../../shell/configuration.ts";
import { defineLogOptions, printLog, readLogLines, readLogOptions } from "../../shell/log-lines.ts";
import type { Verb } from "../../shell/verb.ts";
import { findServer } from "./find-server.ts";

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
    command.argument("<name>", "name of the server (see: fairlead mcp list)");
    const grep = "only lines that match this regular expression; case-sensitive if it has capital letters";
    defineLogOptions(command, grep);
  },

  async run(context) {
    const { out, globals, operands } = context;
    const [name = ""] = operands;
    const view = readLogOptions(context);
    const configuration = await configurationOf(context);
    const path = logPath(configuration.locations.state, name);
    const [earlier, last] = await Promise.all([readEarlier(path), readLogLines(path)]);
    // A removed server may still have a log. If there is no log, the name must be in the settings.
    if (last === undefined) findServer(configuration, name);
    if (view.onlyPath) return globals.json ? out.json({ name, path }) : out.print(toSafeLine(path));

    const lines = [...earlier, ...(view.follow ? [] : (last ?? []))].filter(view.isWanted);
    if (globals.json) return out.json({ name, path, lines: lines.map(toDocument) });
    await printLog(lines, path, view, context);
    if (last === undefined) out.say(safe`"${toSafeLine(name)}" has no log yet: ${toSafeLine(path)}`);
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
