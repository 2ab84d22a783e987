/** `fairlead mcp import`: copies servers from other programs' settings. Without `--write`, only shows the result. */

import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { previewEntry } from "@fairlead/console/server/words/server-redaction";
import { HostError } from "@fairlead/core/errors";
import { toShellWord } from "@fairlead/core/plain-text";
import { joinSafe, type SafeText, safe, toSafeJson, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust";
import { Option } from "commander";
import { clients } from "../../clients/client.ts";
import { detectProgram, type ForeignFile } from "../../import/foreign-file.ts";
import { type Collection, type PlannedServer, planImport } from "../../import/plan.ts";
import {
  type ImportSource,
  type Program,
  programNames,
  projectFolder,
  type Remark,
  usualPlaces,
} from "../../import/program.ts";
import { count, type Output, unlessEmpty } from "../../output/output.ts";
import { configurationIfTrusted, configurationOf } from "../../shell/configuration.ts";
import { canAsk, confirm } from "../../shell/prompt.ts";
import { type Context, nameHint, type Verb } from "../../shell/verb.ts";
import {
  type Destination,
  destinationOf,
  type ScopeWord,
  scopeOption,
  trustAddLine,
  type Undo,
} from "./add/destination.ts";
import {
  convertSources,
  entriesIn,
  literalSecretsOf,
  type StoredSecret,
  storeImported,
  writeImported,
} from "./import/import-steps.ts";

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
Reads the settings of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Codex, Zed, opencode, Antigravity, GitHub
Copilot CLI, Kiro, Cline, Kilo, goose, Grok Build, Kimi Code, mcporter and Pi in your home folder and in this workspace,
and shows the entry that each server becomes. Starts no server and writes nothing without --write. Servers of your own
files go to your settings, servers of this project's files to the project's.
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

/** Finds the files that `mcp import` reads: the file given with `--from`, or the default files of each program. */
async function findSources(
  { from, format, workspace }: { readonly from?: string; readonly format?: Program; readonly workspace: boolean },
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

// The report of `mcp import`: the files it read and the result for every server in them.

/** Servers to import into one settings file, and the files that they come from. */
export interface ImportPart {
  readonly destination: Destination;
  readonly files: readonly { readonly source: ImportSource; readonly file: ForeignFile }[];
  readonly servers: readonly PlannedServer[];
  /** The undo commands, one for each written server. */
  readonly undo: Undo[];
}

/** What `mcp import` found and wrote. Without `--write`, `written` is false and no file has changed. */
export interface ImportReport {
  readonly parts: readonly ImportPart[];
  readonly written: boolean;
  readonly folderTrusted: boolean;
  /** The command that trusts the folder and approves its servers. */
  readonly trustLine: string;
  readonly stored: readonly StoredSecret[];
  readonly keepsSecrets: boolean;
}

/** Whether `--write` writes this server into the settings. */
export function isWritten({ action }: PlannedServer): boolean {
  return action.kind === "add" || action.kind === "replace";
}

/** Returns the report for `--json`. It hides the same values as the printed report. */
export function importDocument(report: ImportReport): object {
  const { parts, written, stored } = report;
  const undo = [...parts.flatMap((part) => part.undo), ...secretUndo(stored)];
  return {
    written,
    target: parts[0] && targetDocument(parts[0]),
    sources: parts.flatMap(({ files }) => files.map(({ source, file }) => ({ ...source, ...stateDocument(file) }))),
    servers: parts.flatMap((part) =>
      part.servers.map((server) => ({
        name: server.target,
        from: { ...server.source, name: server.name },
        target: targetDocument(part),
        action: server.action.kind,
        sameAs: "of" in server.action ? server.action.of : undefined,
        clashesWith: "with" in server.action ? server.action.with : undefined,
        entry: previewEntry(server.conversion.entry),
        enabled: server.conversion.enabled,
        remarks: remarksOf(server, report),
      })),
    ),
    secrets: unlessEmpty(stored.map(({ server, key, name }) => ({ server, key, name }))),
    undo: undo.length > 0 ? undo.flatMap((one) => ("undo" in one ? [one.undo] : [])) : undefined,
  };
}

function targetDocument({ destination: { scope, file } }: ImportPart): object {
  return { scope, file };
}

function secretUndo(stored: readonly StoredSecret[]): readonly Undo[] {
  return stored.filter(({ isNew }) => isNew).map(({ name }) => ({ undo: `fairlead secret remove ${name}` }));
}

function stateDocument(file: ForeignFile): object {
  if (file.kind === "read") return { state: "read", servers: file.servers.length };
  const { kind: state, ...rest } = file;
  return { state, ...rest };
}

/** Prints each server with its entry and result, then the next step. */
export function printImport(report: ImportReport, out: Output): void {
  const { parts } = report;
  const files = parts.flatMap((part) => part.files);
  for (const { source, file } of files) if (file.kind === "broken") out.warn(brokenLine(source, file));
  const servers = parts.flatMap((part) => part.servers);
  for (const server of servers) out.show(serverText(server, report, out));
  if (servers.length === 0) {
    out.show(safe`no servers found in`);
    for (const { source } of files) out.show(safe`  ${sourceWords(source)}`);
  }
  sayClosing(report, out);
}

/** Returns the warning about a file that is not valid, with line and column if known. */
export function brokenLine(
  source: ImportSource,
  { message, line, column }: Extract<ForeignFile, { kind: "broken" }>,
): SafeText {
  const position = line === undefined ? safe`` : safe`:${line}:${column ?? 1}`;
  return safe`${toSafeLine(source.file)}${position}: ${toSafeLine(message)}; ignored`;
}

function serverText(server: PlannedServer, report: ImportReport, { style }: Output): SafeText {
  const { target, source, conversion, action } = server;
  const entry = toSafeJson(previewEntry(conversion.entry)).split("\n").map(toVisibleLine);
  const words = isWritten(server) ? style.green(actionWords(server)) : style.yellow(actionWords(server));
  return joinSafe([
    safe`${style.bold(toVisibleLine(target))}: ${words}`,
    safe`  from ${sourceWords(source)}`,
    // For an entry that cannot be imported, only the reason is shown.
    ...(action.kind === "refused" ? [] : entry.map((line) => safe`    ${line}`)),
    ...remarksOf(server, report).map(remarkText),
    safe``,
  ]);
}

function sourceWords({ program, file }: ImportSource): SafeText {
  return safe`${toSafeLine(clients[program].title)} (${toSafeLine(file)})`;
}

function actionWords({ action, target }: PlannedServer): SafeText {
  const only = toSafeLine(`--only ${toShellWord(target)}`);
  switch (action.kind) {
    case "add":
      return safe`add`;
    case "replace":
      return safe`replace the existing entry`;
    case "same":
      return safe`already in the settings`;
    case "exists":
      return safe`skipped: the settings already have a server of this name (--replace replaces its entry)`;
    case "duplicate":
      return safe`skipped: the same server is in ${sourceWords(action.of)}`;
    case "clash":
      return safe`skipped: ${sourceWords(action.with)} has a different server of the same name (${only} adds this server under the new name)`;
    case "refused":
      return safe`cannot be imported`;
    case "untrusted":
      return safe`skipped: the folder of this file is not trusted (${only} adds the server anyway)`;
    case "not-chosen":
      return safe`skipped: not named in --only`;
  }
}

const remarkWords: Readonly<Record<Remark["kind"], SafeText>> = {
  converted: safe`converted`,
  dropped: safe`not imported`,
  hint: safe`note`,
  obstacle: safe`cannot be converted`,
};

function remarkText({ kind, key, message, next }: Remark): SafeText {
  const where = key === "" ? safe`` : safe`${toVisibleLine(key)}: `;
  const hint = next === undefined ? safe`` : safe`\n      next: ${toVisibleLine(next)}`;
  return safe`  - ${remarkWords[kind]}: ${where}${toVisibleLine(message)}${hint}`;
}

function sayClosing({ parts, written, stored, folderTrusted, trustLine }: ImportReport, out: Output): void {
  const shares = parts
    .map(({ servers, destination, undo }) => ({ destination, undo, taken: servers.filter(isWritten).length }))
    .filter(({ taken }) => taken > 0);
  const additions = joinSafe(
    shares.map(({ taken, destination }) => safe`${count(taken, "server")} to ${toSafeLine(destination.file)}`),
    safe` and `,
  );
  if (!written) {
    const preview = safe`nothing was written; --write adds ${additions}`;
    out.say(shares.length === 0 ? safe`nothing to add; nothing was written` : preview);
    return;
  }
  for (const { server, key, name } of stored)
    out.say(safe`stored ${toVisibleLine(key)} of ${toVisibleLine(server)} as the secret ${toSafeLine(name)}`);
  out.say(safe`wrote ${additions}`);
  for (const one of [...shares.flatMap(({ undo }) => undo), ...secretUndo(stored)])
    if ("undo" in one) out.undo(one.undo);
    else out.say(safe`cannot be undone: ${toSafeLine(one.noUndo)}`);
  if (!shares.some(({ destination }) => destination.scope === "workspace")) return;
  const trust = folderTrusted ? safe`` : safe`The folder is not trusted yet, so Fairlead ignores its settings. `;
  out.say(safe`${trust}The imported servers need your approval.\n  next: ${toSafeLine(trustLine)}`);
}

function remarksOf(server: PlannedServer, { stored, written, keepsSecrets }: ImportReport): readonly Remark[] {
  const { conversion, action, target } = server;
  if (action.kind === "refused" || (written && !isWritten(server))) return conversion.remarks;
  const secrets = literalSecretsOf(server).map(({ key, name }): Remark => {
    if (keepsSecrets) {
      const message = `looks like a secret and is written unchanged; store it and write \${secret:${name}} instead`;
      return { kind: "hint", key, message, next: `fairlead secret set ${name}` };
    }
    const kept = stored.find((one) => one.server === target && one.key === key)?.name ?? name;
    const message = `looks like a secret: it ${written ? "is" : "will be"} stored, and the entry refers to it as \${secret:${kept}}`;
    return { kind: "converted", key, message };
  });
  return [...conversion.remarks, ...secrets];
}
