/** Finds the programs of servers on the same `PATH` that they get when they start. */

import { realpath } from "node:fs/promises";
import { delimiter, isAbsolute } from "node:path";
import { type LaunchContext, planLaunch } from "@fairlead/core/connect/launch";
import { HostError } from "@fairlead/core/errors";
import type { Origin, ServerDefinition, StdioTransport } from "@fairlead/core/settings/define/definition";
import { firstLine } from "@fairlead/core/trust/approved-programs";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { findProgram, programPlace, systemPath, withoutUntrusted } from "@fairlead/core/trust/programs";
import { findElsewhere, type Managed, managerOf } from "./version-managers.ts";
import { findOnWindows } from "./windows-program.ts";

interface NodeFacts {
  readonly version: string;
  readonly file: string;
  /** The `node` on `PATH`, if it is another one. */
  readonly other?: string;
}

export interface LaunchFacts {
  readonly server: string;
  readonly origin: Origin;
  readonly command: string;
  readonly file?: string;
  /** The interpreter of a script (`#! /usr/bin/env node`), and whether it exists. */
  readonly interpreter?: { readonly name: string; readonly isFound: boolean };
  /** Where a version manager has the command or interpreter that is not on the server's `PATH`. */
  readonly elsewhere?: Managed;
  /** The version manager's folder of a program that is on `PATH` only in the user's own shell. */
  readonly managed?: Managed;
  readonly droppedPath: readonly string[];
  /** Why Fairlead refuses to start the program. */
  readonly refused?: Pick<HostError, "message" | "next" | "code">;
  /** Windows: the only match is a PowerShell script, which cannot be started as a program. */
  readonly script?: string;
}

export interface ProgramFacts {
  readonly node: NodeFacts;
  readonly npx?: string;
  readonly relativePath: readonly string[];
  readonly launches: readonly LaunchFacts[];
}

/** `servers`: the servers that may start. */
export async function readProgramFacts(
  configuration: Pick<Configuration, "environment" | "locations" | "trust">,
  servers: readonly ServerDefinition[],
): Promise<ProgramFacts> {
  const place = programPlace(configuration);
  const programs = servers.flatMap((definition) =>
    definition.resolved?.kind === "stdio" ? [lookFor(definition, definition.resolved, place)] : [],
  );
  return { ...(await readNodeFacts(place)), launches: await Promise.all(programs) };
}

/** Reads the facts that need no settings. */
export async function readNodeFacts(place: LaunchContext): Promise<Omit<ProgramFacts, "launches">> {
  const { env, cwd, platform } = place.environment;
  const written = env["PATH"] ?? systemPath;
  const { path } = await withoutUntrusted(written, place);
  const find = async (command: string): Promise<string | undefined> =>
    platform === "win32" ? (await findOnWindows(command, env)).file : findProgram(command, path, cwd);
  const [node, npx] = await Promise.all([find("node"), find("npx")]);
  const file = process.execPath;
  const isOther = node !== undefined && (await realpath(node)) !== (await realpath(file));
  return {
    node: { version: process.version, file, ...(isOther && { other: node }) },
    ...(npx !== undefined && { npx }),
    // An empty entry means the current folder.
    relativePath: written === "" ? [] : written.split(delimiter).filter((folder) => !isAbsolute(folder)),
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

/** Returns the program in a script's first line (`#!`). */
async function interpreterOf(file: string): Promise<string | undefined> {
  const [program, argument] = await firstLine(file);
  return program !== undefined && /[/]env$/.test(program) ? argument : program;
}
