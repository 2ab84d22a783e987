/** What `mcp import` says: where it looked, and what becomes of every server it found there. */

import type { ForeignFile } from "@fairlead/core/settings/import/foreign-file";
import type { PlannedServer } from "@fairlead/core/settings/import/plan";
import { programs, type Remark, type Source } from "@fairlead/core/settings/import/program";
import { joinSafe, type SafeText, safe, toSafeJson, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { count, type Output } from "../../output/output.ts";
import { hideInArguments, hideInUrl } from "../../output/server-redaction.ts";
import { hidden, looksSecret, secretHints } from "../../output/server-secrets.ts";
import type { Destination } from "./destination.ts";

export interface ImportReport {
  readonly destination: Destination;
  readonly files: readonly { readonly source: Source; readonly file: ForeignFile }[];
  readonly servers: readonly PlannedServer[];
  readonly written: boolean;
  readonly folderTrusted: boolean;
  /** Lines that take back what was written. */
  readonly undo: readonly string[];
}

type Entry = PlannedServer["conversion"]["entry"];

export function isTaken({ action }: PlannedServer): boolean {
  return action.kind === "add" || action.kind === "replace";
}

export function importDocument({ destination, files, servers, written, undo }: ImportReport): object {
  return {
    written,
    target: { scope: destination.scope, file: destination.file },
    sources: files.map(({ source, file }) => ({ ...source, ...stateDocument(file) })),
    servers: servers.map((server) => ({
      name: server.target,
      from: { ...server.source, name: server.name },
      action: server.action.kind,
      ...("of" in server.action ? { sameAs: server.action.of } : {}),
      ...("with" in server.action ? { clashesWith: server.action.with } : {}),
      entry: hideSecrets(server.conversion.entry),
      enabled: server.conversion.enabled,
      remarks: remarksOf(server),
    })),
    ...(undo.length > 0 ? { undo } : {}),
  };
}

function stateDocument(file: ForeignFile): object {
  if (file.kind === "read") return { state: "read", servers: file.servers.length };
  const { kind: state, ...rest } = file;
  return { state, ...rest };
}

export function printImport(report: ImportReport, out: Output): void {
  for (const { source, file } of report.files) if (file.kind === "broken") out.warn(brokenLine(source, file));
  for (const server of report.servers) out.print(serverText(server, out));
  if (report.servers.length === 0) {
    out.print(safe`no servers found in`);
    for (const { source } of report.files) out.print(safe`  ${sourceWords(source)}`);
  }
  for (const line of closing(report)) out.say(line);
}

export function brokenLine(
  source: Source,
  { message, line, column }: Extract<ForeignFile, { kind: "broken" }>,
): SafeText {
  const place = line === undefined ? safe`` : safe`:${line}:${column ?? 1}`;
  return safe`${toSafeLine(source.file)}${place}: ${toSafeLine(message)}; left out`;
}

function serverText(server: PlannedServer, { style }: Output): SafeText {
  const { target, source, conversion, action } = server;
  const entry = toSafeJson(hideSecrets(conversion.entry)).split("\n").map(toVisibleLine);
  const words = isTaken(server) ? style.green(actionWords(server)) : style.yellow(actionWords(server));
  return joinSafe([
    safe`${style.bold(toVisibleLine(target))}: ${words}`,
    safe`  from ${sourceWords(source)}`,
    // An entry that is in the way of itself says more by its obstacles.
    ...(action.kind === "refused" ? [] : entry.map((line) => safe`    ${line}`)),
    ...remarksOf(server).map(remarkText),
    safe``,
  ]);
}

function sourceWords({ program, file }: Source): SafeText {
  return safe`${toSafeLine(programs[program].title)} (${toSafeLine(file)})`;
}

function actionWords({ action, target }: PlannedServer): SafeText {
  const only = toSafeLine(`--only ${toShellWord(target)}`);
  switch (action.kind) {
    case "add":
      return safe`add`;
    case "replace":
      return safe`replace the entry of that name`;
    case "same":
      return safe`already there`;
    case "exists":
      return safe`skipped: another entry of that name is there (--replace replaces it)`;
    case "duplicate":
      return safe`skipped: the same as from ${sourceWords(action.of)}`;
    case "clash":
      return safe`skipped: differs from the one of ${sourceWords(action.with)} (${only} adds it under this name)`;
    case "refused":
      return safe`cannot be taken over`;
    case "untrusted":
      return safe`skipped: it comes with a folder that is not trusted (${only} adds it all the same)`;
    case "not-chosen":
      return safe`not chosen`;
  }
}

const remarkWords: Readonly<Record<Remark["kind"], SafeText>> = {
  converted: safe`converted`,
  dropped: safe`not carried over`,
  hint: safe`note`,
  obstacle: safe`in the way`,
};

function remarkText({ kind, key, message, next }: Remark): SafeText {
  const where = key === "" ? safe`` : safe`${toVisibleLine(key)}: `;
  const hint = next === undefined ? safe`` : safe`\n      next: ${toVisibleLine(next)}`;
  return safe`  - ${remarkWords[kind]}: ${where}${toVisibleLine(message)}${hint}`;
}

function closing({ servers, written, destination, folderTrusted, undo }: ImportReport): SafeText[] {
  const taken = servers.filter(isTaken).length;
  const file = toSafeLine(destination.file);
  if (!written && taken > 0) return [safe`nothing was written; --write adds ${count(taken, "server")} to ${file}`];
  if (taken === 0) return [safe`nothing to add; nothing was written`];
  const waits = destination.scope === "workspace" && !folderTrusted;
  return [
    safe`wrote ${count(taken, "server")} to ${file}`,
    ...undo.map((line) => safe`undo: ${toSafeLine(line)}`),
    ...(waits
      ? [safe`The folder is not trusted yet, so nothing in its settings counts.\n  next: fairlead trust add`]
      : []),
  ];
}

function remarksOf({ conversion, action }: PlannedServer): readonly Remark[] {
  if (action.kind === "refused") return conversion.remarks;
  const secrets = secretHints(conversion.entry).map(({ key, secret }): Remark => {
    const message = `looks like a secret and stays written out; stored, it can be referred to as \${secret:${secret}}`;
    return { kind: "hint", key, message, next: `fairlead secret set ${secret}` };
  });
  return [...conversion.remarks, ...secrets];
}

/** A copy of the entry that can be shown: what looks like a secret is hidden, the rest is as it would be written. */
function hideSecrets(entry: Entry): Entry {
  return Object.fromEntries(Object.entries(entry).map(([key, value]) => [key, hideIn(key, value)]));
}

function hideIn(key: string, value: unknown): unknown {
  if (key === "args" && Array.isArray(value)) return hideInArguments(value.map(String));
  if (typeof value === "string") return hideInUrl(value);
  if (key !== "env" && key !== "headers" && key !== "oauth") return value;
  const fields = Object.entries(typeof value === "object" && value !== null ? value : {});
  return Object.fromEntries(fields.map(([name, inner]: [string, unknown]) => [name, hideNamed(name, inner)]));
}

function hideNamed(name: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  return looksSecret(name, value) ? hidden : hideInUrl(value);
}
