/** The report of `mcp add`: the entry as read back from the file, warnings, and the undo command. */

import { resolve } from "node:path";
import {
  type Field,
  layout,
  optionFields,
  positionText,
  problemLines,
  resolvedValues,
  transportFields,
  transportWord,
} from "@fairlead/console/server/words/server-details";
import { launchNotes } from "@fairlead/console/server/words/server-notes";
import { hideLiteral, redact, secretHints } from "@fairlead/console/server/words/server-redaction";
import { type ServerDefinition, sandboxDocument } from "@fairlead/core/settings";
import { safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { AdmittedServer } from "@fairlead/core/trust";
import type { Output } from "../../../output/output.ts";
import { type ListedServer, serverDocument } from "../../../output/servers/server-state.ts";
import type { Destination, WrittenApproval } from "./destination.ts";
import type { Entry } from "./new-entry.ts";

/** One entry that `mcp add` wrote, with its undo command or the reason why there is none. */
export interface Added {
  readonly name: string;
  readonly entry: Entry;
  readonly replaced: boolean;
  /** The files and folders that the entry names, as a profile of a sandbox names them. */
  readonly paths: readonly string[];
  /** How the definitions of the new version differ, if it was tried. */
  readonly definitions?: object | undefined;
  readonly undo?: string;
  readonly noUndo?: string;
}

/** What `mcp add` has done. */
interface Report {
  readonly added: readonly Added[];
  readonly destination: Destination;
  /** The added servers, read back from the settings. */
  readonly servers: readonly AdmittedServer[];
  /** The command that trusts the folder and approves its servers. */
  readonly trustLine: string;
  readonly approval: WrittenApproval;
  readonly trusted: boolean;
}

/** Returns the JSON report of `mcp add`. `tested`: the servers that Fairlead tried to connect to. */
export function document(
  { added, destination: { scope, file }, servers, trusted, approval }: Report,
  tested: readonly ListedServer[],
): object {
  return {
    servers: added.map(({ name, entry, replaced, paths, definitions, undo }) => {
      const test = tested.find((one) => one.server.name === name);
      const server = inForce(name, servers);
      const definition = server?.definition;
      return {
        name,
        scope,
        file,
        replaced,
        transport: transportWord(server?.kind),
        sandbox: definition && server.origin.file === file ? sandboxDocument(definition) : undefined,
        approved: scope === "workspace" ? approval.approved.includes(name) : undefined,
        folderTrusted: scope === "workspace" ? trusted : undefined,
        shadowedBy: server && server.origin.file !== file ? server.origin : undefined,
        problems: server?.origin.file === file ? server.problems : [],
        notes: [
          ...(definition
            ? [...launchNotes(definition), ...programNotes(definition), ...hiddenNotes(definition, paths)]
            : []),
          ...hints(entry),
        ],
        definitions,
        undo,
        test: test && serverDocument(test),
      };
    }),
  };
}

/** Prints why servers cannot start: an approval is missing, or the folder is not trusted. */
export function printApproval(report: Report, out: Output): void {
  const { destination, trusted, approval } = report;
  for (const { name, variables } of approval.unseen)
    out.warn(
      safe`"${toVisibleLine(name)}" is not approved yet, because the workspace's .env file sets variables for it: ${toVisibleLine(variables.join(", "))}`,
    );
  if (approval.failure !== undefined)
    out.warn(safe`warning: added, but the approval could not be stored: ${toSafeLine(approval.failure)}`);
  if (destination.scope !== "workspace") return;
  if (!trusted) out.warn(safe`The folder is not trusted yet, so Fairlead ignores its settings.`);
  if (!trusted || approval.approved.length < report.added.length)
    out.warn(safe`  next: ${toSafeLine(report.trustLine)}`);
}

/** Prints an added entry with its warnings and its undo command. `servers`: read back from the settings. */
export function printAdded(
  { name, entry, replaced, paths, undo, noUndo }: Added,
  { scope, file }: Destination,
  servers: readonly AdmittedServer[],
  out: Output,
): void {
  const verb = replaced ? safe`replaced` : safe`added`;
  out.show(safe`${verb} "${toSafeLine(name)}" in ${toSafeLine(file)} (${toSafeLine(scope)})`);
  const server = inForce(name, servers);
  if (server && server.origin.file !== file)
    out.warn(
      safe`note: Fairlead uses another entry with the same name instead: ${positionText(server.origin)} (${toSafeLine(server.origin.scope)})`,
    );
  else {
    const definition = server?.definition;
    if (definition) out.show(layout(writtenFields(definition, entry), safe`  `));
    for (const problem of server?.problems ?? []) out.warn(problemLines(problem));
    for (const note of definition ? launchNotes(definition) : []) out.say(safe`note: ${toSafeLine(note)}`);
    for (const note of definition ? hiddenNotes(definition, paths) : []) out.warn(safe`note: ${toVisibleLine(note)}`);
    // Notes about programs are printed even with --quiet, because they name the files that the user's approval covers.
    for (const note of definition ? programNotes(definition) : []) out.warn(safe`note: ${toVisibleLine(note)}`);
  }
  for (const hint of hints(entry)) out.warn(safe`warning: ${toSafeLine(hint)}`);
  if (undo !== undefined) out.undo(undo);
  else out.say(safe`cannot be undone: ${toSafeLine(noUndo ?? "")}`);
}

/** Returns a note for each file of the workspace that the entry would run. */
function programNotes({ programs = [] }: ServerDefinition): string[] {
  return programs.flatMap(({ file, digest }) =>
    digest === undefined ? [] : [`runs ${file}, a file of this folder (SHA-256 ${digest.slice(0, 12)}…)`],
  );
}

/** Returns a note if the entry names files that its sandbox does not show: it will not find them. */
function hiddenNotes({ name, sandbox, base }: ServerDefinition, paths: readonly string[]): string[] {
  if (sandbox === undefined) return [];
  const shown = [...sandbox.read, ...sandbox.write];
  const hidden = paths.filter((written) => {
    const path = written.startsWith("~") ? base.home + written.slice(1) : resolve(base.folder, written);
    return !shown.some((folder) => path === folder || path.startsWith(`${folder}/`));
  });
  if (hidden.length === 0) return [];
  return [
    `its sandbox does not show ${hidden.join(", ")}: to show it, list it in "read" or "write" of fairlead.servers.${name}.sandbox`,
  ];
}

/** Returns the entry's fields to print. Leaves out a field whose value is only a default. */
function writtenFields(definition: ServerDefinition, entry: Entry): Field[] {
  const { transport, trust, description } = definition;
  const options = optionFields(definition, { show: toSafeLine, hide: hideLiteral });
  const isUrl = transport.kind !== "stdio" && transport.kind !== "http-or-sse";
  return [
    { label: safe`transport`, values: isUrl ? [toSafeLine(transportWord(transport.kind))] : [] },
    ...transportFields(redact(transport), toSafeLine),
    { label: safe`resolves to`, values: resolvedValues(definition, toVisibleLine) },
    ...options.filter(({ label }) => label !== "timeout" || Object.hasOwn(entry, "timeout")),
    {
      label: safe`trust`,
      values: trust ? [safe`true: in a trusted folder, the server's tools run without confirmation`] : [],
    },
    { label: safe`description`, values: description === undefined ? [] : [toSafeLine(description)] },
  ];
}

function inForce(name: string, servers: readonly AdmittedServer[]): AdmittedServer["server"] | undefined {
  return servers.find(({ server }) => server.name === name)?.server;
}

/** Returns warnings about literal values that look like secrets. */
export function hints(entry: Entry): string[] {
  return secretHints(entry).map(
    ({ key, secret }) =>
      `${key} looks like a secret: store it with fairlead secret set ${secret} and write \${secret:${secret}} instead`,
  );
}
