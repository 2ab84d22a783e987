/**
 * The options for a server given on the command line: `fairlead call https://… tool`, `fairlead tools --stdio 'npx …'`.
 */

import { present } from "@fairlead/core/settings";
import type { Configuration } from "@fairlead/core/trust";
import { type Command, Option } from "commander";
import { type Context, usageError } from "../shell/verb.ts";
import type { AdHoc, TypedOptions } from "./ad-hoc-server.ts";

interface AdHocOptions extends TypedOptions {
  readonly stdio?: string;
}

/** Adds `--stdio`, `--env`, `--header`, `--transport`, `--name` and `--persist` to a command. */
export function defineAdHocOptions(command: Command): void {
  const repeat = (word: string, before: readonly string[] = []): readonly string[] => [...before, word];
  command
    .optionsGroup("For a server that is not in the settings:")
    .option("--stdio <command>", "start this server for this command only")
    .option(
      "-e, --env <NAME=VALUE>",
      "environment variable for the server; NAME alone passes on your own value (repeatable)",
      repeat,
    )
    .option("-H, --header <Name: value>", "a header for the URL (repeatable)", repeat)
    .addOption(
      new Option("-t, --transport <kind>", "transport of the URL; default: Fairlead detects the transport").choices([
        "http",
        "sse",
      ]),
    )
    .option("--name <name>", "name of the server; default: its host, package or file")
    .option("--persist", "save the server in your user settings, like fairlead mcp add -s user");
}

/** Whether a word is an HTTP URL and not a server name. */
export function isAddress(word: string | undefined): word is string {
  return word !== undefined && /^https?:\/\//i.test(word);
}

/** Whether the command line gives a server, as a URL (`address`) or with `--stdio`. */
export function isTyped(address: string | undefined, { command }: Pick<Context, "command">): boolean {
  return address !== undefined || command.opts<AdHocOptions>().stdio !== undefined;
}

/**
 * Adds the server given on the command line to the configuration. Returns undefined if none was given.
 * @throws HostError `usage`
 */
export async function openAdHoc(
  address: string | undefined,
  configuration: Configuration,
  context: Context,
): Promise<AdHoc | undefined> {
  const { stdio, env, header, transport, name, persist } = context.command.opts<AdHocOptions>();
  const options = present({ env, header, transport, name, persist });
  const typed = address ?? stdio;
  if (typed === undefined) {
    refuseLeftOver(options, context);
    return undefined;
  }
  if (address !== undefined && stdio !== undefined)
    throw usageError("a URL and --stdio both name a server: give only one", context);
  if (stdio !== undefined && isAddress(stdio.trim()))
    throw usageError(`--stdio takes a command, not the URL "${stdio}": write the URL without --stdio`, context);
  // `ad-hoc-server.ts` is loaded only if the command line gives a server, so that other commands start faster.
  const { openTyped } = await import("./ad-hoc-server.ts");
  return openTyped(typed, options, configuration, context);
}

function refuseLeftOver({ env, header, transport, name, persist }: AdHocOptions, context: Context): void {
  const given = { "--env": env, "--header": header, "--transport": transport, "--name": name, "--persist": persist };
  const [flag] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
  if (flag !== undefined) throw usageError(`${flag} works only with a URL or --stdio COMMAND`, context);
}
