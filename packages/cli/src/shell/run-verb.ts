/** Parses a command's arguments and options with commander, and runs the command. Parse errors become usage errors. */

import { resolve } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { asksForTelemetry } from "@fairlead/core/telemetry";
import { toSafeText } from "@fairlead/core/text/safe-text";
import { createIdeTrust } from "@fairlead/core/trust";
import { Command, CommanderError } from "commander";
import type { Output } from "../output/output.ts";
import { columnsOf, joinParagraphs, wrapMessage } from "../output/wrap.ts";
import type { CommandTelemetry } from "./command-telemetry.ts";
import { globalOptions } from "./help.ts";
import type { Globals, Io, RunWords, Verb, Words } from "./verb.ts";

interface Invocation {
  readonly verb: Verb;
  readonly name: string;
  readonly summary: string;
  readonly words: Words;
  readonly io: Io;
  readonly out: Output;
  readonly runWords: (...words: [...Parameters<RunWords>, within?: CommandTelemetry]) => Promise<void>;
  /** The telemetry of the command that runs this one. */
  readonly within: CommandTelemetry | undefined;
}

/** Runs one command. @throws HostError `usage` for invalid arguments or options */
export async function runVerb(invocation: Invocation): Promise<void> {
  const { verb, name, summary, words, io, out, runWords, within } = invocation;
  const command = new Command(`fairlead ${name}`.trim()).description(summary).exitOverride();
  // Commander's error text becomes the HostError's message, so commander itself writes nothing to stderr.
  command.configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: () => {} });
  verb.define?.(command);
  const columns = columnsOf(io.stdout);
  if (verb.help !== undefined)
    command.addHelpText(
      "after",
      columns === Number.POSITIVE_INFINITY ? verb.help : wrapMessage(toSafeText(joinParagraphs(verb.help)), columns),
    );
  command.optionsGroup("Global options:");
  for (const [flags, help] of globalOptions) command.option(flags, help);
  command.action(async () => {
    const options = command.opts<Partial<Globals> & { C?: string }>();
    const globals: Globals = {
      workspace: options.workspace ?? true,
      trustWorkspace: options.trustWorkspace ?? false,
      json: options.json ?? false,
      quiet: options.quiet ?? false,
      debug: options.debug === "" || (options.debug ?? false),
      root: options.C,
      settings: options.settings,
      record: options.record === undefined ? undefined : resolve(io.cwd, options.record),
    };
    const ide = createIdeTrust({ environment: io, clock: io.clock });
    const traced = within ?? (asksForTelemetry(io.env) ? await openTelemetry(io, out) : undefined);
    const telemetry = traced?.telemetry;
    const context = { io, globals, command, rest: words.rest, operands: command.args, out, telemetry, ide };
    const run = () => verb.run({ ...context, runWords: (...nested) => runWords(...nested, traced) });
    try {
      const isOne = within === undefined && verb.isLasting?.(io) !== true;
      await (isOne && traced !== undefined ? traced.run(command.name(), run) : run());
    } finally {
      await ide.close();
      if (within === undefined) await traced?.close();
    }
  });
  try {
    // `--debug` without `=` must not use the next word as its value.
    const ours = words.ours.map((word) => (word === "--debug" ? "--debug=" : word));
    await command.parseAsync(ours, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return;
    const message = error.message.replace(/^error: /, "").replace(/\n\(Did you mean (.*)\?\)$/, "; did you mean $1?");
    const isUnknownOption = error.code === "commander.unknownOption" && !message.includes("did you mean");
    const next = isUnknownOption ? verb.nextForUnknownOption?.(words.ours, command) : undefined;
    throw new HostError("usage", message, { next: next ?? `fairlead ${name} --help`.replace("  ", " ") });
  }
}

async function openTelemetry(io: Io, out: Output): Promise<CommandTelemetry | undefined> {
  const { openCommandTelemetry } = await import("./command-telemetry.ts");
  return openCommandTelemetry(io, out);
}
