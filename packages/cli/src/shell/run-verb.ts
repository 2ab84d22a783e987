/** Parses a command's arguments and options with commander, and runs the command. Parse errors become usage errors. */

import { resolve } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { toSafeText } from "@fairlead/core/text/safe-text";
import { createIdeTrust } from "@fairlead/core/trust";
import { Command, CommanderError } from "commander";
import type { Output } from "../output/output.ts";
import { columnsOf, joinParagraphs, wrapMessage } from "../output/wrap.ts";
import { globalOptions } from "./help.ts";
import type { Globals, Io, RunWords, Verb, Words } from "./verb.ts";

interface Invocation {
  readonly verb: Verb;
  readonly name: string;
  readonly summary: string;
  readonly words: Words;
  readonly io: Io;
  readonly out: Output;
  readonly runWords: RunWords;
}

/** Runs one command. @throws HostError `usage` for invalid arguments or options */
export async function runVerb({ verb, name, summary, words, io, out, runWords }: Invocation): Promise<void> {
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
    try {
      await verb.run({ io, globals, command, rest: words.rest, operands: command.args, out, runWords, ide });
    } finally {
      await ide.close();
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
