/** Looks for the programs that servers are started with, on the very `PATH` that they would be started with. */

import { open, realpath } from "node:fs/promises";
import { delimiter, isAbsolute } from "node:path";
import { type LaunchContext, planLaunch } from "@fairlead/core/connect/launch";
import { findProgram, systemPath } from "@fairlead/core/connect/search-path";
import { HostError } from "@fairlead/core/errors";
import type { Origin, ServerDefinition, StdioTransport } from "@fairlead/core/settings/define/definition";
import type { Environment } from "@fairlead/core/settings/read/paths";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { findElsewhere, type Managed, managerOf } from "./version-managers.ts";
import { findOnWindows } from "./windows-program.ts";

interface NodeFacts {
  readonly version: string;
  readonly file: string;
  /** The one that `PATH` leads to, if that is another. */
  readonly other?: string;
}

export interface LaunchFacts {
  readonly server: string;
  readonly origin: Origin;
  readonly command: string;
  readonly file?: string;
  /** What the file needs to run (`#! /usr/bin/env node`), and whether that is there. */
  readonly interpreter?: { readonly name: string; readonly isFound: boolean };
  /** Not on the `PATH` that the server gets (the command, or else its interpreter), but here. */
  readonly elsewhere?: Managed;
  /** On it, but only in a person's own shell. */
  readonly managed?: Managed;
  readonly droppedPath: readonly string[];
  /** It may not be started from here. */
  readonly refused?: Pick<HostError, "message" | "next" | "code">;
  /** Windows: there is only a script that cannot be started as a program. */
  readonly script?: string;
}

export interface ProgramFacts {
  readonly node: NodeFacts;
  readonly npx?: string;
  readonly relativePath: readonly string[];
  readonly launches: readonly LaunchFacts[];
}

/** `servers`: those that may start. */
export async function readProgramFacts(
  { environment, locations, trust }: Pick<Configuration, "environment" | "locations" | "trust">,
  servers: readonly ServerDefinition[],
): Promise<ProgramFacts> {
  const place = { environment, root: locations.root, trusted: trust.trusted };
  const programs = servers.flatMap((definition) =>
    definition.resolved?.kind === "stdio" ? [lookFor(definition, definition.resolved, place)] : [],
  );
  return { ...(await readNodeFacts(environment)), launches: await Promise.all(programs) };
}

/** What can be said without settings. */
export async function readNodeFacts(environment: Environment): Promise<Omit<ProgramFacts, "launches">> {
  const { env, cwd, platform } = environment;
  const path = env["PATH"] ?? systemPath;
  const find = async (command: string): Promise<string | undefined> =>
    platform === "win32" ? (await findOnWindows(command, env)).file : findProgram(command, path, cwd);
  const [node, npx] = await Promise.all([find("node"), find("npx")]);
  const file = process.execPath;
  const isOther = node !== undefined && (await realpath(node)) !== (await realpath(file));
  return {
    node: { version: process.version, file, ...(isOther && { other: node }) },
    ...(npx !== undefined && { npx }),
    // Between two separators there is the current folder.
    relativePath: path === "" ? [] : path.split(delimiter).filter((folder) => !isAbsolute(folder)),
  };
}

async function lookFor(
  { name: server, origin }: ServerDefinition,
  transport: StdioTransport,
  place: LaunchContext,
): Promise<LaunchFacts> {
  const { command } = transport;
  try {
    const { file, target, droppedPath } = await planLaunch(server, transport, place);
    const path = target.env["PATH"] ?? systemPath;
    const { home, platform } = place.environment;
    const base = { server, origin, command, droppedPath };
    if (platform === "win32") return { ...base, ...(await findOnWindows(command, target.env)) };
    const wanted = file === undefined ? undefined : await interpreterOf(file);
    const isFound = wanted === undefined || (await findProgram(wanted, path, target.cwd)) !== undefined;
    const missing = file === undefined ? command : isFound ? undefined : wanted;
    const elsewhere = missing === undefined ? undefined : await findElsewhere(missing, home);
    const managed = file === undefined || command.includes("/") ? undefined : await managerOf(file);
    return {
      ...base,
      ...(file !== undefined && { file }),
      ...(wanted !== undefined && { interpreter: { name: wanted, isFound } }),
      ...(elsewhere && { elsewhere }),
      ...(managed && { managed }),
    };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return { server, origin, command, droppedPath: [], refused: error };
  }
}

const longestLine = 256;

/** The program that a script names in its first line. */
async function interpreterOf(file: string): Promise<string | undefined> {
  const handle = await open(file).catch(() => undefined);
  // A program that can be run but not read is not a script.
  if (handle === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(longestLine), 0, longestLine, 0);
    const [, program, argument] =
      /^#![ \t]*(\S+)(?:[ \t]+(?:-S[ \t]+)?([^\s-]\S*))?/.exec(buffer.toString("latin1", 0, bytesRead)) ?? [];
    return program !== undefined && /[/]env$/.test(program) ? argument : program;
  } finally {
    await handle.close();
  }
}
