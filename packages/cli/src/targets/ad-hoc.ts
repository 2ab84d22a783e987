/** How a server is typed instead of configured: `fairlead call https://… tool`, `fairlead tools --stdio 'npx …'`. */

import { present } from "@fairlead/core/settings/schema/present";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { type Command, Option } from "commander";
import { usageError } from "../shell/usage-error.ts";
import type { Context } from "../shell/verb.ts";
import type { AdHoc, TypedOptions } from "./ad-hoc-server.ts";

interface AdHocOptions extends TypedOptions {
  readonly stdio?: string;
}

export function defineAdHocOptions(command: Command): void {
  const repeat = (word: string, before: readonly string[] = []): readonly string[] => [...before, word];
  command
    .optionsGroup("For a server that is not in the settings:")
    .option("--stdio <command>", "start this program, for this one command")
    .option("-e, --env <NAME=VALUE>", "a variable for the program; NAME alone hands yours on (repeatable)", repeat)
    .option("-H, --header <Name: value>", "a header for the URL (repeatable)", repeat)
    .addOption(
      new Option("-t, --transport <kind>", "how to speak to the URL, if not to be found out").choices(["http", "sse"]),
    )
    .option("--name <name>", "what to call it; by default its host, package or file")
    .option("--persist", "keep it: write it into your settings, as fairlead mcp add -s user does");
}

/** Whether a word is the address of a server rather than a name. */
export function isAddress(word: string | undefined): word is string {
  return word !== undefined && /^https?:\/\//i.test(word);
}

/** Whether a server was typed; `address` is the word in its place on the command line, if that is one. */
export function isTyped(address: string | undefined, { command }: Pick<Context, "command">): boolean {
  return address !== undefined || command.opts<AdHocOptions>().stdio !== undefined;
}

/** Undefined if none was typed. */
export async function openAdHoc(
  address: string | undefined,
  configuration: Configuration,
  context: Context,
): Promise<AdHoc | undefined> {
  // The command has options of its own, which say nothing about the server.
  const { stdio, env, header, transport, name, persist } = context.command.opts<AdHocOptions>();
  const options = present({ env, header, transport, name, persist });
  const typed = address ?? stdio;
  if (typed === undefined) {
    refuseLeftOver(options, context);
    return undefined;
  }
  if (address !== undefined && stdio !== undefined)
    throw usageError("a server has a URL or --stdio, not both", context);
  if (stdio !== undefined && isAddress(stdio.trim()))
    throw usageError(`--stdio takes a command, and "${stdio}" is an address: write it without --stdio`, context);
  // Loaded only by those who type a server.
  const { openTyped } = await import("./ad-hoc-server.ts");
  return openTyped(typed, options, configuration, context);
}

function refuseLeftOver({ env, header, transport, name, persist }: AdHocOptions, context: Context): void {
  const given = { "--env": env, "--header": header, "--transport": transport, "--name": name, "--persist": persist };
  const [flag] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
  if (flag !== undefined) throw usageError(`${flag} is for a server that is typed: a URL, or --stdio COMMAND`, context);
}
