/** `fairlead mcp import`: copies servers from other programs' settings. Without `--write`, only shows the result. */

import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { Option } from "commander";
import { detectProgram } from "../../import/foreign-file.ts";
import { type Collection, type PlannedServer, planImport } from "../../import/plan.ts";
import { type ImportSource, type Program, programNames } from "../../import/program.ts";
import { projectFolder, usualPlaces } from "../../import/usual-places.ts";
import { count } from "../../output/output.ts";
import { configurationIfTrusted, configurationOf } from "../../shell/configuration.ts";
import { nameHint } from "../../shell/name-hint.ts";
import { canAsk, confirm } from "../../shell/prompt.ts";
import type { Context, Verb } from "../../shell/verb.ts";
import { type Destination, destinationOf, type ScopeWord, scopeOption, trustAddLine } from "./add/destination.ts";
import { brokenLine, type ImportPart, importDocument, isWritten, printImport } from "./import/import-report.ts";
import { convertSources, entriesIn, storeImported, writeImported } from "./import/import-steps.ts";
import { literalSecretsOf } from "./import/store-secrets.ts";

interface Options {
  readonly from?: string;
  readonly format?: Program;
  readonly scope?: ScopeWord;
  readonly only?: string;
  readonly replace?: boolean;
  readonly write?: boolean;
  readonly secrets?: "store" | "keep";
}

export const verb: Verb = {
  help: `
Reads the settings of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Codex, Zed and opencode in your home folder and
in this workspace, and shows the entry that each server becomes. Starts no server and writes nothing without --write. Servers of
your own files go to your settings, servers of this project's files to the project's.
With --write, values that look like secrets go into the secret store, and the entry refers to them as \${secret:NAME}.
On a terminal Fairlead asks first; --secrets keep writes them into the settings file unchanged.

  \${env:NAME}, \${userHome}, \${workspaceFolder}   become \${NAME}, \${HOME}, \${PWD}
  \${input:ID}                                     becomes \${secret:ID}; store it with fairlead secret set ID
  envFile                                         becomes references to the variables that have a value here
  a literal dollar sign                           becomes $$
  npx mcp-remote URL                              becomes the URL
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
          "with --from: the program that the file belongs to; without --from: read only this program's files",
        ).choices(programNames),
      );
    scopeOption(
      command,
      "user (for all your folders) or project (for this folder); default: project for a file in this folder, user for any other file",
    );
    command
      .option("--only <names>", "import only these servers, separated by commas")
      .option("--replace", "replace entries with the same name")
      .option("--write", "write the servers; without --write, only show the result")
      .addOption(
        new Option(
          "--secrets <how>",
          "store: move literal secrets into the secret store (default); keep: write them unchanged",
        ).choices(["store", "keep"]),
      );
  },

  async run(context) {
    const { out, globals, command } = context;
    const { scope, only, replace = false, write = false, secrets, ...wanted } = command.opts<Options>();
    const configuration = await configurationOf(context);
    const sources = await findSources({ ...wanted, workspace: globals.workspace }, configuration);
    const names = only === undefined ? undefined : new Set(only.split(",").map((name) => name.trim()));
    const parts: ImportPart[] = [];
    for (const [destination, own] of byDestination(sources, scope, configuration)) {
      const { files, candidates } = await convertSources(own, destination, configuration);
      if (wanted.from !== undefined) refuseBroken(files);
      const servers = planImport(candidates, {
        existing: await entriesIn(destination),
        replace,
        // The user has chosen the file of `--from`, so Fairlead reads the file even in an untrusted folder.
        isTrusted: ({ folder }) => wanted.from !== undefined || folder === undefined || configuration.trust.trusted,
        only: names,
      });
      parts.push({ destination, files, servers, undo: [] });
    }
    const planned = parts.flatMap(({ servers }) => servers);
    refuseUnknown(names, planned);
    const taken = write ? planned.filter(isWritten) : [];
    const isStoring =
      taken.some((server) => literalSecretsOf(server).length > 0) && (await wantsStore(secrets, taken, context));
    const stored = isStoring ? await storeImported(taken, configuration, context) : { servers: taken, stored: [] };
    const before = taken.some(({ action }) => action.kind === "replace")
      ? await configurationIfTrusted(context)
      : configuration;
    for (const [at, server] of stored.servers.entries()) {
      const part = parts.find(({ servers }) => servers.includes(taken[at] ?? server));
      if (part) part.undo.push(await writeImported(server, part.destination, before, context));
    }
    const report = {
      parts,
      written: taken.length > 0,
      folderTrusted: configuration.trust.trusted,
      trustLine: trustAddLine(configuration.locations),
      stored: stored.stored,
      keepsSecrets: write ? !isStoring : secrets === "keep",
    };
    if (globals.json) out.json(importDocument(report));
    else printImport(report, out);
  },
};

/**
 * Groups the imported files by the settings file that gets their servers. Without `scope`, servers from a file of the
 * project go to the project's settings, and all others to the user settings.
 */
function byDestination(
  sources: readonly ImportSource[],
  scope: ScopeWord | undefined,
  { locations }: Configuration,
): readonly (readonly [Destination, readonly ImportSource[]])[] {
  const isOfProject = ({ folder }: ImportSource): boolean =>
    folder === locations.root && locations.files.workspace !== undefined;
  if (scope !== undefined) return [[destinationOf(scope, locations), sources]];
  const user = sources.filter((source) => !isOfProject(source));
  const project = sources.filter(isOfProject);
  return [
    ...(user.length > 0 || project.length === 0 ? [[destinationOf("user", locations), user] as const] : []),
    ...(project.length > 0 ? [[destinationOf("project", locations), project] as const] : []),
  ];
}

/**
 * Whether to move literal secrets into the secret store. Asks the user without `--secrets`. Without a terminal: yes.
 */
async function wantsStore(
  secrets: Options["secrets"],
  taken: readonly PlannedServer[],
  { io, out }: Context,
): Promise<boolean> {
  if (secrets !== undefined || !canAsk(io)) return secrets !== "keep";
  const found = taken.flatMap((server) => literalSecretsOf(server).map(({ key, name }) => ({ server, key, name })));
  for (const { server, key, name } of found)
    out.exactly(safe`  ${toVisibleLine(server.target)} ${toVisibleLine(key)}: \${secret:${toVisibleLine(name)}}`);
  return !(await confirm(
    io,
    safe`Write ${count(found.length, "secret")} unchanged into the settings file? If not, Fairlead puts them into the secret store.`,
  ));
}

function refuseBroken(files: Collection["files"]): void {
  for (const { source, file } of files)
    if (file.kind === "broken") throw new HostError("settings_invalid", brokenLine(source, file));
}

function refuseUnknown(names: ReadonlySet<string> | undefined, servers: readonly PlannedServer[]): void {
  const targetNames = new Set(servers.map(({ target }) => target));
  const unknown = [...(names ?? [])].find((name) => !targetNames.has(name));
  if (unknown === undefined) return;
  const hint = nameHint(unknown, targetNames);
  throw new HostError("usage", `found no server "${unknown}"${hint}`, { next: "fairlead mcp import" });
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
  // For a symbolic link, the link's own name tells the format better than the name of its target.
  const program = format ?? (await detectProgram(written)) ?? (await detectProgram(file));
  if (program === undefined)
    throw new HostError("usage", `${file} has no known format (${programNames.join(", ")})`, {
      next: `fairlead mcp import --from ${from} --format ${programNames[0]}`,
    });
  const folder = projectFolder(file, environment);
  return [{ program, file, folder }];
}
