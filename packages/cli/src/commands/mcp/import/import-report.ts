/** The report of `mcp import`: the files it read and the result for every server in them. */

import type { ForeignFile } from "@fairlead/core/settings/import/foreign-file";
import type { PlannedServer } from "@fairlead/core/settings/import/plan";
import { type ImportSource, programs, type Remark } from "@fairlead/core/settings/import/program";
import { joinSafe, type SafeText, safe, toSafeJson, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { count, type Output } from "../../../output/output.ts";
import { previewEntry } from "../../../output/servers/entry-redaction.ts";
import { secretHints } from "../../../output/servers/server-secrets.ts";
import type { Destination, Undo } from "../add/destination.ts";

export interface ImportReport {
  readonly destination: Destination;
  readonly files: readonly { readonly source: ImportSource; readonly file: ForeignFile }[];
  readonly servers: readonly PlannedServer[];
  readonly written: boolean;
  readonly folderTrusted: boolean;
  /** The command that trusts the folder and approves its servers. */
  readonly trustLine: string;
  /** One undo command for each server that was written. */
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
  return safe`${toSafeLine(source.file)}${place}: ${toSafeLine(message)}; ignored`;
}

function serverText(server: PlannedServer, { style }: Output): SafeText {
  const { target, source, conversion, action } = server;
  const entry = toSafeJson(previewEntry(conversion.entry)).split("\n").map(toVisibleLine);
  const words = isWritten(server) ? style.green(actionWords(server)) : style.yellow(actionWords(server));
  return joinSafe([
    safe`${style.bold(toVisibleLine(target))}: ${words}`,
    safe`  from ${sourceWords(source)}`,
    // An entry that cannot be imported is explained by its remarks.
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
      return safe`replace the existing entry`;
    case "same":
      return safe`already in the settings`;
    case "exists":
      return safe`skipped: the name is already in use (--replace replaces the entry)`;
    case "duplicate":
      return safe`skipped: same as in ${sourceWords(action.of)}`;
    case "clash":
      return safe`skipped: differs from the server in ${sourceWords(action.with)} (${only} adds it under this name)`;
    case "refused":
      return safe`cannot be imported`;
    case "untrusted":
      return safe`skipped: its folder is not trusted (${only} adds it anyway)`;
    case "not-chosen":
      return safe`not in --only`;
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
    else out.say(safe`cannot be undone: ${toSafeLine(one.noUndo)}`);
  if (destination.scope !== "workspace") return;
  const trust = folderTrusted ? safe`` : safe`The folder is not trusted yet, so Fairlead ignores its settings. `;
  out.say(safe`${trust}The imported servers need your approval.\n  next: ${toSafeLine(trustLine)}`);
}

function remarksOf({ conversion, action }: PlannedServer): readonly Remark[] {
  if (action.kind === "refused") return conversion.remarks;
  const secrets = secretHints(conversion.entry).map(({ key, secret }): Remark => {
    const message = `looks like a secret and is written unchanged; store it and write \${secret:${secret}} instead`;
    return { kind: "hint", key, message, next: `fairlead secret set ${secret}` };
  });
  return [...conversion.remarks, ...secrets];
}
