/** `fairlead mcp import`: takes over servers from other programs, after showing what that would do. */

import { HostError } from "@fairlead/core/errors";
import { setServerEnabled, writeServer } from "@fairlead/core/settings/edit";
import { type Collection, collect } from "@fairlead/core/settings/import/collect";
import { type PlannedServer, planImport } from "@fairlead/core/settings/import/plan";
import { type ImportSource, type Program, programNames } from "@fairlead/core/settings/import/program";
import { childNode, entriesOf, plainValueOf } from "@fairlead/core/settings/read/nodes";
import { readSource } from "@fairlead/core/settings/read/source";
import { lookupFor, readEnvFiles } from "@fairlead/core/settings/read/variables";
import { closest } from "@fairlead/core/text/closest";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { Option } from "commander";
import { configurationIfTrusted, configurationOf } from "../../shell/configuration.ts";
import type { Context, Verb } from "../../shell/verb.ts";
import { isApproved, trustAddLine } from "./add/approve-written.ts";
import { type Destination, destinationOf, type ScopeWord, scopeOption } from "./add/destination.ts";
import { brokenLine, importDocument, isWritten, printImport } from "./import/import-report.ts";
import { findSources } from "./import/import-sources.ts";
import { removeLine, restore, type Undo } from "./undo.ts";

interface Options {
  readonly from?: string;
  readonly format?: Program;
  readonly scope?: ScopeWord;
  readonly only?: string;
  readonly replace?: boolean;
  readonly write?: boolean;
}

export const verb: Verb = {
  define(command) {
    command
      .option("--from <file>", "read this file instead of looking at the usual places")
      .addOption(
        new Option(
          "--format <program>",
          "the program that wrote the file; without --from, look for its files only",
        ).choices(programNames),
      );
    scopeOption(command, "where to add: user (default) for you, project for this folder");
    command
      .option("--only <names>", "only these servers, separated by commas")
      .option("--replace", "replace entries of the same name")
      .option("--write", "add the servers; without it nothing is written")
      .addHelpText("after", help);
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
      // A file that was named has been chosen, whatever folder it is in.
      isTrusted: ({ folder }) => wanted.from !== undefined || folder === undefined || configuration.trust.trusted,
      ...(names === undefined ? {} : { only: names }),
    });
    refuseUnknown(names, servers);
    const taken = write ? servers.filter(isWritten) : [];
    // What stands in a file is not what a person has read: entries of a project wait for `trust add`.
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

/** What stands in the target; a file that cannot be read cannot be added to. */
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
  const near = closest(unknown, known);
  throw new HostError(
    "usage",
    `no server "${unknown}" was found${near === undefined ? "" : `; did you mean "${near}"?`}`,
    {
      next: "fairlead mcp import",
    },
  );
}

/** Switched off before it is there, so that it never is there switched on. */
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

const help = `
Looks at the settings of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf and Codex, in your home folder and in
this workspace, and shows for every server the entry it would become. Nothing is started, and nothing is written
without --write. What looks like a secret is not shown, but it is written as it stands.

  \${env:NAME}, \${userHome}, \${workspaceFolder}   become \${NAME}, \${HOME}, \${PWD}
  \${input:ID}                                     becomes \${secret:ID}; store it with fairlead secret set ID
  envFile                                         becomes references to the variables that have a value here
  a dollar sign that is only that                 becomes $$
  servers that are switched off                   stay switched off
  tools that run there without asking             are asked about here

A name that is taken is skipped (--replace replaces it). Where two programs have different servers of one name, the
second is offered as NAME-PROGRAM and added when asked for: --only NAME-PROGRAM. Servers of a folder that is not
trusted are added only by --only or --from. What is added to a project waits for fairlead trust add.

Examples:
  fairlead mcp import
  fairlead mcp import --write
  fairlead mcp import --only github,files --write
  fairlead mcp import --format cursor
  fairlead mcp import --from .vscode/mcp.json -s project --write
  fairlead mcp import --from servers.json --format claude-desktop --json`;
