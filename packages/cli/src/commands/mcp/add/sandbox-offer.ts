/** `--sandbox` of `mcp add`, and the offer of a sandbox on a terminal. */

import { findDownload, type ProposedPath, proposePaths, whyNoSandbox } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import type { ConfiguredServer, StdioTransport, Transport } from "@fairlead/core/settings";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { addAdHocServer, type Configuration, programPlace } from "@fairlead/core/trust";
import { isObject } from "@fairlead/wire/json";
import { choose } from "../../../shell/prompt.ts";
import type { Context } from "../../../shell/verb.ts";
import type { Destination } from "./destination.ts";
import type { NewServer } from "./new-entry.ts";

/** A value of `fairlead.servers.NAME.sandbox`. */
export type SandboxProfile = "on" | "off" | Readonly<Record<string, unknown>>;

/** What happens to `fairlead.servers.NAME.sandbox`. `default` removes it, so that `fairlead.sandbox` decides. */
export type SandboxChange = SandboxProfile | "default";

/** Reads the value of `--sandbox`: `on`, `off`, `default` or a profile as JSON. @throws HostError `usage` */
export function readSandboxOption(word: string): SandboxChange {
  if (word === "on" || word === "off" || word === "default") return word;
  const profile = parsed(word);
  if (isObject(profile)) return profile;
  throw new HostError("usage", `--sandbox "${word}" is none of on, off, default and a JSON object`, {
    next: `for example: --sandbox '{"read": ["~/notes"], "hosts": ["api.example.com"]}'`,
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The word for `--sandbox` that restores a value. Undefined if no word does. */
export function sandboxWord(value: unknown): string | undefined {
  if (value === undefined) return "default";
  if (value === "on" || value === "off") return value;
  return isObject(value) ? JSON.stringify(value) : undefined;
}

/** Whether Fairlead can run the program in a sandbox. A container is a box of its own. */
function isSandboxable(transport: Transport): transport is StdioTransport {
  return transport.kind === "stdio" && findDownload(transport.command, transport.args)?.from !== "an image registry";
}

/** The files and folders that a new entry names. Undefined if it starts no program that can run in a sandbox. */
export async function proposedPaths(
  { name, entry }: NewServer,
  { scope }: Pick<Destination, "scope">,
  configuration: Configuration,
): Promise<readonly ProposedPath[] | undefined> {
  const { added } = await addAdHocServer({ ...configuration, servers: [] }, { name, entry });
  const { definition } = added.server;
  const transport = definition?.resolved ?? definition?.transport;
  if (transport === undefined || !isSandboxable(transport)) return undefined;
  const { locations, environment } = configuration;
  const folder = scope === "workspace" ? locations.root : undefined;
  const cwd = Object.hasOwn(entry, "cwd") ? transport.cwd : undefined;
  return proposePaths({
    transport: { ...transport, cwd },
    cwd: cwd ?? folder ?? environment.home,
    home: environment.home,
    state: locations.state,
    folder,
  });
}

/** The files and folders that an entry of the workspace names. Undefined if it has a sandbox, or cannot have one, or says so. */
export async function proposedFor(
  { saysSandbox, definition }: ConfiguredServer,
  { locations, environment }: Configuration,
): Promise<readonly ProposedPath[] | undefined> {
  const started = definition?.resolved ?? definition?.transport;
  if (saysSandbox || definition?.sandbox !== undefined || started === undefined || !isSandboxable(started))
    return undefined;
  const { root, state } = locations;
  const cwd = started.cwd ?? root;
  return proposePaths({ transport: started, cwd, home: environment.home, state, folder: root });
}

/**
 * Offers a sandbox as the first choice, and asks what the program may do with the files and folders that its entry names.
 * Undefined if this system never has sandboxes.
 *
 * @throws HostError `denied` if the user wants no server without a sandbox
 */
export async function offerSandbox(
  name: string,
  paths: readonly ProposedPath[],
  configuration: Configuration,
  context: Context,
): Promise<SandboxProfile | undefined> {
  const { io, out } = context;
  const shown = toVisibleLine(name);
  const missing = await whyNoSandbox(programPlace(configuration));
  if (missing === undefined) {
    const question = safe`Run "${shown}" in a sandbox? It then sees its own files and what you list here, and nothing else of your home and the network`;
    if ((await choose(io, question, ["y", "n"])) === "n") return "off";
    return askForPaths(paths, context);
  }
  out.warn(safe`"${shown}" cannot run in a sandbox: ${toSafeLine(missing.why)}\n  next: ${toSafeLine(missing.fix)}`);
  if (io.platform !== "linux") return undefined;
  const question = safe`Add "${shown}"? n: no; s: with a sandbox, so that it starts only once there is one; u: without, so that it runs with all your rights`;
  switch (await choose(io, question, ["n", "s", "u"])) {
    case "n":
      throw new HostError("denied", "nothing was changed");
    case "s":
      return askForPaths(paths, context);
    case "u":
      return "off";
  }
}

/** Asks what the program may do with each file and folder, and returns the profile. */
export async function askForPaths(
  paths: readonly ProposedPath[],
  { io }: Pick<Context, "io">,
): Promise<SandboxProfile> {
  const read: string[] = [];
  const write: string[] = [];
  for (const path of paths) {
    const question = safe`May it see ${whatIs(path)}? r: read; w: read and change; n: no`;
    const letter = await choose(io, question, path.isBroad ? ["n", "r", "w"] : ["r", "w", "n"]);
    if (letter === "r") read.push(path.written);
    if (letter === "w") write.push(path.written);
  }
  return profileOf(read, write);
}

/** The profile of the first answers: the program reads what its entry names, but not a folder with the whole home in it. */
export function firstProfile(paths: readonly ProposedPath[]): SandboxProfile {
  return profileOf(
    paths.filter(({ isBroad }) => !isBroad).map(({ written }) => written),
    [],
  );
}

function profileOf(read: readonly string[], write: readonly string[]): SandboxProfile {
  if (read.length + write.length === 0) return "on";
  return { ...(read.length > 0 && { read }), ...(write.length > 0 && { write }) };
}

function whatIs({ written, kind, isBroad }: ProposedPath): SafeText {
  const shown = toVisibleLine(written);
  if (isBroad) return safe`${shown}, which has your whole home in it`;
  return kind === "package" ? safe`${shown}, the folder of its own package` : shown;
}
