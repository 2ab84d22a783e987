/** The report of `mcp import`: the files it read and the result for every server in them. */

import { joinSafe, type SafeText, safe, toSafeJson, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import type { ForeignFile } from "../../../import/foreign-file.ts";
import type { PlannedServer } from "../../../import/plan.ts";
import { type ImportSource, programs, type Remark } from "../../../import/program.ts";
import { count, type Output, unlessEmpty } from "../../../output/output.ts";
import { previewEntry } from "../../../output/servers/entry-redaction.ts";
import type { Destination, Undo } from "../add/destination.ts";
import { literalSecretsOf, type StoredSecret } from "./store-secrets.ts";

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
