/** Formats the output of `connect` and `disconnect`: the change of each client's file, and its outcome. */

import type { HostError } from "@fairlead/core/errors";
import { hidden } from "@fairlead/core/text/hidden-text";
import { joinSafe, type SafeText, safe, toSafeJson, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { isObject } from "@fairlead/wire/json";
import { errorDocument } from "../output/error-lines.ts";
import { unlessEmpty } from "../output/output.ts";
import { looksSecret, previewEntry } from "../output/servers/server-redaction.ts";
import { type ClientName, clients, type ForeignEntry } from "./client.ts";
import type { MovePlan } from "./move-servers.ts";

/**
 * What was done with a client's file. `declined`: the user said no. `refused`: an error prevented the change. `revoked`:
 * Fairlead had written nothing there, and revoked the client's tokens.
 */
type ConnectAction = "written" | "unchanged" | "printed" | "declined" | "refused" | "restored" | "removed" | "revoked";

/** What `connect` or `disconnect` did with one client. */
export interface ClientReport {
  readonly client: ClientName;
  readonly file: string;
  readonly action: ConnectAction;
  readonly entry?: ForeignEntry;
  readonly difference?: readonly string[];
  readonly move?: MovePlan;
  /** How many tokens of the client `disconnect` revoked. */
  readonly revokedTokens?: number;
  readonly warnings: readonly string[];
  readonly error?: HostError;
}

/** Returns the `--json` output for one client. Hides secrets, except in an entry that `--print` shows. */
export function clientDocument(report: ClientReport): object {
  const { client, file, action, entry, difference, move, revokedTokens, warnings, error } = report;
  return {
    client,
    title: clients[client].title,
    file,
    action,
    entry: action === "printed" ? entry : entry && withoutSecrets(entry),
    difference,
    moved: move?.names,
    staying: move?.staying,
    revokedTokens,
    warnings: unlessEmpty(warnings),
    error: error && errorDocument(error),
  };
}

function withoutSecrets(entry: ForeignEntry): ForeignEntry {
  return Object.fromEntries(
    Object.entries(entry).map(([key, value]) => [
      key,
      isObject(value) ? withoutSecrets(value) : typeof value === "string" && looksSecret(key, value) ? hidden : value,
    ]),
  );
}

/** Returns the name of the client and its file, then the changed lines. */
export function differenceText({ client, file, difference = [], move }: ClientReport): SafeText {
  const lines = difference.map((line) => safe`  ${toVisibleLine(line)}`);
  return joinSafe([
    safe`${toSafeLine(clients[client].title)}: ${toSafeLine(file)}`,
    ...lines,
    ...(move === undefined ? [] : moveLines(move)),
  ]);
}

function moveLines({ destination, added, names, staying }: MovePlan): readonly SafeText[] {
  const existingNames = names.filter((name) => !added.some((server) => server.name === name));
  return [
    ...added.flatMap(({ name, conversion }) => [
      safe`  move ${toVisibleLine(name)} to ${toSafeLine(destination.file)}:`,
      ...toSafeJson(previewEntry(conversion.entry))
        .split("\n")
        .map((line) => safe`    ${toVisibleLine(line)}`),
    ]),
    ...existingNames.map(
      (name) => safe`  remove ${toVisibleLine(name)} from this file: the server is already in Fairlead's settings`,
    ),
    ...staying.map(({ name, reason }) => safe`  ${toVisibleLine(name)} stays: ${toVisibleLine(reason)}`),
  ];
}

/** Returns the lines that the user can copy into the client's file. */
export function printedEntry({ client, file }: ClientReport, text: string): SafeText {
  const title = safe`# ${toSafeLine(clients[client].title)}: ${toSafeLine(file)}`;
  return joinSafe([title, ...text.trimEnd().split("\n").map(toVisibleLine)]);
}
