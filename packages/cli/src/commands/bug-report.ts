/** `fairlead bug-report`: writes one file with everything that a maintainer needs, and no secrets. */

import { writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { explain, systemCode } from "@fairlead/core/files/system-error";
import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { collectReport } from "../bug-report/collect.ts";
import { reportText } from "../bug-report/report-text.ts";
import { configurationOf } from "../shell/configuration.ts";
import { canAsk, confirm } from "../shell/prompt.ts";
import type { Verb } from "../shell/verb.ts";
import { findServer } from "./mcp/find-server.ts";

interface Options {
  readonly output?: string;
  readonly yes?: boolean;
}

const issues = "https://github.com/fairlead/fairlead/issues";

export const verb: Verb = {
  help: `
Collects versions, the keys of your settings without values, the states of the servers, and the last lines of their
logs. With a server's name, it also connects to that server, and adds the steps of the connection and the last protocol
messages, without their content. Shows the whole text, and asks before it writes the file. Nothing is sent anywhere.

Secrets that Fairlead knows (settings, variables, headers, tokens) are hidden. Read the file before you share it: a server's
own log lines may contain more.

Examples:
  fairlead bug-report
  fairlead bug-report github
  fairlead bug-report github -o report.md --yes`,

  define(command) {
    command
      .argument("[server]", "also connect to this server; include only this server's log")
      .option("-o, --output <file>", "the file to write; default: fairlead-bug-report-TIME.md in the current folder")
      .option("--yes", "write the file without asking");
  },

  async run(context) {
    const { io, out, globals, command, operands } = context;
    const { output, yes: isYes = false } = command.opts<Options>();
    if (!isYes && !canAsk(io))
      throw new HostError("usage", "bug-report asks before it writes, and there is no terminal to ask on", {
        next: [command.name(), ...operands, "--yes"].join(" "),
      });
    const configuration = await configurationOf(context);
    const [name] = operands;
    const server = name === undefined ? undefined : findServer(configuration, name);
    const { report, hide } = await collectReport(configuration, server, context);
    const text = reportText(report, hide);
    const file = resolve(
      io.cwd,
      output ?? `fairlead-bug-report-${report.created.slice(0, 19).replaceAll(":", "-")}.md`,
    );
    if (!globals.json) out.print(text);
    if (!isYes && !(await confirm(io, safe`Write this report to ${toSafeLine(file)}?`)))
      return globals.json ? out.json({ written: false }) : out.say(safe`nothing was written`);
    await writeReport(file, text);
    if (globals.json) return out.json({ written: true, file, text });
    out.say(
      safe`written: ${toSafeLine(file)}\nnext: read the file, then attach it to an issue at ${toSafeLine(issues)}`,
    );
  },
};

/**
 * Writes the report to a new file that only its owner can read. Never overwrites an existing file.
 * @throws HostError `usage`
 */
async function writeReport(file: string, text: SafeText): Promise<void> {
  try {
    await writeFile(file, text, { flag: "wx", mode: 0o600 });
  } catch (cause) {
    const { why, next = "choose another file with -o" } = notWrittenBecause(cause, dirname(file));
    throw new HostError("usage", `${file} cannot be written: ${why}`, { next, cause });
  }
}

function notWrittenBecause(error: unknown, folder: string): { readonly why: string; readonly next?: string } {
  const code = systemCode(error);
  if (code === "ENOENT") return { why: `there is no folder ${folder}`, next: `mkdir -p ${toShellWord(folder)}` };
  return { why: code === "EEXIST" ? "the file exists" : explain(error) };
}
