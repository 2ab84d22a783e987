/** What `mcp import` says: where it looked, and what becomes of every server it found there. */

import type { ForeignFile } from "@fairlead/core/settings/import/foreign-file";
import type { PlannedServer } from "@fairlead/core/settings/import/plan";
import { type ImportSource, programs, type Remark } from "@fairlead/core/settings/import/program";
import { joinSafe, type SafeText, safe, toSafeJson, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { count, type Output } from "../../../output/output.ts";
import { previewEntry } from "../../../output/servers/entry-redaction.ts";
import { secretHints } from "../../../output/servers/server-secrets.ts";
import type { Destination } from "../add/destination.ts";
import type { Undo } from "../undo.ts";

export interface ImportReport {
  readonly destination: Destination;
  readonly files: readonly { readonly source: ImportSource; readonly file: ForeignFile }[];
  readonly servers: readonly PlannedServer[];
  readonly written: boolean;
  readonly folderTrusted: boolean;
  /** What to type to trust the folder and approve its servers. */
  readonly trustLine: string;
  /** For each server that was written. */
  readonly undo: readonly Undo[];
}

export function isWritten({ action }: PlannedServer): boolean {
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
      entry: previewEntry(server.conversion.entry),
      enabled: server.conversion.enabled,
      remarks: remarksOf(server),
    })),
    ...(undo.length > 0 ? { undo: undo.flatMap((one) => ("undo" in one ? [one.undo] : [])) } : {}),
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
  sayClosing(report, out);
}

export function brokenLine(
  source: ImportSource,
  { message, line, column }: Extract<ForeignFile, { kind: "broken" }>,
): SafeText {
  const place = line === undefined ? safe`` : safe`:${line}:${column ?? 1}`;
  return safe`${toSafeLine(source.file)}${place}: ${toSafeLine(message)}; left out`;
}

function serverText(server: PlannedServer, { style }: Output): SafeText {
  const { target, source, conversion, action } = server;
  const entry = toSafeJson(previewEntry(conversion.entry)).split("\n").map(toVisibleLine);
  const words = isWritten(server) ? style.green(actionWords(server)) : style.yellow(actionWords(server));
  return joinSafe([
    safe`${style.bold(toVisibleLine(target))}: ${words}`,
    safe`  from ${sourceWords(source)}`,
    // An entry that is in the way of itself says more by its obstacles.
    ...(action.kind === "refused" ? [] : entry.map((line) => safe`    ${line}`)),
    ...remarksOf(server).map(remarkText),
    safe``,
  ]);
}

function sourceWords({ program, file }: ImportSource): SafeText {
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

function sayClosing(
  { servers, written, destination, folderTrusted, undo, trustLine }: ImportReport,
  out: Output,
): void {
  const taken = servers.filter(isWritten).length;
  const file = toSafeLine(destination.file);
  if (!written) {
    const offer = safe`nothing was written; --write adds ${count(taken, "server")} to ${file}`;
    out.say(taken === 0 ? safe`nothing to add; nothing was written` : offer);
    return;
  }
  out.say(safe`wrote ${count(taken, "server")} to ${file}`);
  for (const one of undo)
    if ("undo" in one) out.undo(one.undo);
    else out.say(safe`no undo line: ${toSafeLine(one.noUndo)}`);
  if (destination.scope !== "workspace") return;
  const trust = folderTrusted ? safe`` : safe`The folder is not trusted yet, so nothing in its settings counts. `;
  out.say(safe`${trust}What was imported waits for your approval.\n  next: ${toSafeLine(trustLine)}`);
}

function remarksOf({ conversion, action }: PlannedServer): readonly Remark[] {
  if (action.kind === "refused") return conversion.remarks;
  const secrets = secretHints(conversion.entry).map(({ key, secret }): Remark => {
    const message = `looks like a secret and stays written out; stored, it can be referred to as \${secret:${secret}}`;
    return { kind: "hint", key, message, next: `fairlead secret set ${secret}` };
  });
  return [...conversion.remarks, ...secrets];
}
