/** `fairlead mcp import`: copies servers from other programs' settings; without `--write` it only shows the result. */

import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { setServerEnabled, writeServer } from "@fairlead/core/settings/edit";
import { detectProgram } from "@fairlead/core/settings/import/foreign-file";
import { projectFolder, usualPlaces } from "@fairlead/core/settings/import/places";
import { type Collection, collect, type PlannedServer, planImport } from "@fairlead/core/settings/import/plan";
import { type ImportSource, type Program, programNames } from "@fairlead/core/settings/import/program";
import { childNode, entriesOf, plainValueOf } from "@fairlead/core/settings/read/nodes";
import { readSource } from "@fairlead/core/settings/read/source";
import { lookupFor, readEnvFiles } from "@fairlead/core/settings/read/variables";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { Option } from "commander";
import { configurationIfTrusted, configurationOf } from "../../shell/configuration.ts";
import { nameHint } from "../../shell/name-hint.ts";
import type { Context, Verb } from "../../shell/verb.ts";
import {
  type Destination,
  destinationOf,
  isApproved,
  removeLine,
  restore,
  type ScopeWord,
  scopeOption,
  trustAddLine,
  type Undo,
} from "./add/destination.ts";
import { brokenLine, importDocument, isWritten, printImport } from "./import/import-report.ts";

interface Options {
  readonly from?: string;
  readonly format?: Program;
  readonly scope?: ScopeWord;
  readonly only?: string;
  readonly replace?: boolean;
  readonly write?: boolean;
}

export const verb: Verb = {
  help: `
Reads the settings of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf and Codex in your home folder and in this
workspace, and shows the entry that each server becomes. Starts no server and writes nothing without --write.
Values that look like secrets are hidden in the output but written unchanged.

  \${env:NAME}, \${userHome}, \${workspaceFolder}   become \${NAME}, \${HOME}, \${PWD}
  \${input:ID}                                     becomes \${secret:ID}; store it with fairlead secret set ID
  envFile                                         becomes references to the variables that have a value here
  a literal dollar sign                           becomes $$
  disabled servers                                stay disabled
  tools that run there without confirmation       need confirmation here

A server whose name already exists is skipped; --replace replaces it. If two programs have different servers with one
name, the second is called NAME-PROGRAM and added only with --only NAME-PROGRAM. Servers of an untrusted folder are
added only with --only or --from. Servers added to a project need approval: fairlead trust add.

Examples:
  fairlead mcp import
  fairlead mcp import --write
  fairlead mcp import --only github,files --write
  fairlead mcp import --format cursor
  fairlead mcp import --from .vscode/mcp.json -s project --write
  fairlead mcp import --from servers.json --format claude-desktop --json`,

  define(command) {
    command
      .option("--from <file>", "read this file instead of the default files of the programs")
      .addOption(
        new Option(
          "--format <program>",
          "the program whose format the file has; without --from, read only files of this program",
        ).choices(programNames),
      );
    scopeOption(command, "user: for all your folders (default); project: for this folder");
    command
      .option("--only <names>", "only these servers, separated by commas")
      .option("--replace", "replace entries with the same name")
      .option("--write", "write the servers; without it nothing is written");
  },

  async run(context) {
    const { out, globals, command } = context;
    const { scope = "user", only, replace = false, write = false, ...wanted } = command.opts<Options>();
    const configuration = await configurationOf(context);
    const destination = destinationOf(scope, configuration.locations);
    const sources = await findSources({ ...wanted, workspace: globals.workspace }, configuration);
    const { files, candidates } = await convertAll(sources, destination, configuration);
    if (wanted.from !== undefined) refuseBroken(files);
    const names = only === undefined ? undefined : new Set(only.split(",").map((name) => name.trim()));
    const servers = planImport(candidates, {
      existing: await entriesIn(destination),
      replace,
      // The user chose a file given with --from, also in an untrusted folder.
      isTrusted: ({ folder }) => wanted.from !== undefined || folder === undefined || configuration.trust.trusted,
      ...(names === undefined ? {} : { only: names }),
    });
    refuseUnknown(names, servers);
    const taken = write ? servers.filter(isWritten) : [];
    // The user has not read the imported entries, so a project's entries still need `trust add`.
    const before = taken.some(({ action }) => action.kind === "replace")
      ? await configurationIfTrusted(context)
      : configuration;
    const undo: Undo[] = [];
    for (const server of taken) undo.push(await writeOne(server, destination, before, context));
    const folderTrusted = configuration.trust.trusted;
    const trustLine = trustAddLine(configuration.locations);
    const report = { destination, files, servers, undo, written: taken.length > 0, folderTrusted, trustLine };
    if (globals.json) out.json(importDocument(report));
    else printImport(report, out);
  },
};

async function convertAll(
  sources: readonly ImportSource[],
  { scope: target }: Destination,
  { environment, locations, trust: { trusted } }: Configuration,
): Promise<Collection> {
  const { root } = locations;
  const lookup = lookupFor(target, { environment, root, envFiles: await readEnvFiles(locations, trusted) });
  return collect(sources, { environment, root, target, trusted, lookup });
}

/** Reads the entries of the target file. @throws HostError `settings_invalid` if the file is broken */
async function entriesIn({ scope, file }: Destination): Promise<ReadonlyMap<string, unknown>> {
  const { root, state, problems } = await readSource(scope, file);
  const [problem] = problems;
  if (state === "broken")
    throw new HostError(
      "settings_invalid",
      problem?.message ?? `${file} cannot be read`,
      problem?.next === undefined ? {} : { next: problem.next },
    );
  return new Map([...entriesOf(childNode(root, "mcpServers"))].map(([name, { value }]) => [name, plainValueOf(value)]));
}

function refuseBroken(files: Collection["files"]): void {
  for (const { source, file } of files)
    if (file.kind === "broken") throw new HostError("settings_invalid", brokenLine(source, file));
}

function refuseUnknown(names: ReadonlySet<string> | undefined, servers: readonly PlannedServer[]): void {
  const known = new Set(servers.map(({ target }) => target));
  const unknown = [...(names ?? [])].find((name) => !known.has(name));
  if (unknown === undefined) return;
  const hint = nameHint(unknown, known);
  throw new HostError("usage", `found no server "${unknown}"${hint}`, { next: "fairlead mcp import" });
}

/** Writes one server. A disabled server is disabled before it is written, so it is never enabled in between. */
async function writeOne(
  { target, conversion, action }: PlannedServer,
  destination: Destination,
  before: Configuration,
  context: Context,
): Promise<Undo> {
  const { file, word, edit } = destination;
  if (!conversion.enabled) await setServerEnabled(file, target, false, edit);
  const replace = action.kind === "replace";
  const { replaced } = await writeServer(file, target, conversion.entry, { ...edit, replace });
  if (replaced === undefined) return { undo: removeLine(target, word, context.globals) };
  return restore({ name: target, entry: replaced, approved: await isApproved(target, before) }, destination, context);
}

interface Wanted {
  readonly from?: string;
  readonly format?: Program;
  readonly workspace: boolean;
}

/** Finds the files that `mcp import` reads: the file given with `--from`, or the default files of each program. */
async function findSources(
  { from, format, workspace }: Wanted,
  { environment, locations }: Pick<Configuration, "environment" | "locations">,
): Promise<readonly ImportSource[]> {
  if (from === undefined)
    return usualPlaces(environment, locations.root).filter(
      ({ program, folder }) => (format ?? program) === program && (workspace || folder === undefined),
    );
  const written = resolve(environment.cwd, from);
  const file = await realpath(written).catch(() => {
    throw new HostError("usage", `${written} does not exist`, { next: "check the path after --from" });
  });
  // A link's own name identifies the program, not the name of its target.
  const program = format ?? (await detectProgram(written)) ?? (await detectProgram(file));
  if (program === undefined)
    throw new HostError("usage", `${file} has no known format (${programNames.join(", ")})`, {
      next: `fairlead mcp import --from ${from} --format ${programNames[0]}`,
    });
  const folder = projectFolder(file, environment);
  return [{ program, file, ...(folder === undefined ? {} : { folder }) }];
}
