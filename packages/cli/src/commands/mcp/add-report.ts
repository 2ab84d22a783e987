/** What `mcp add` says afterwards: the entry as it was read back, what is doubtful about it, and the way back. */

import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { AdmittedServer } from "@fairlead/core/trust/configuration";
import type { Output } from "../../output/output.ts";
import { problemLines } from "../../output/problem-lines.ts";
import { layout, place, transportFields } from "../../output/server-details.ts";
import { launchNotes } from "../../output/server-notes.ts";
import { redact } from "../../output/server-redaction.ts";
import { secretHints } from "../../output/server-secrets.ts";
import { transportWord } from "../../output/server-status.ts";
import type { Destination } from "./destination.ts";
import type { Entry } from "./new-entry.ts";

export interface Added {
  readonly name: string;
  readonly entry: Entry;
  readonly replaced: boolean;
  readonly undo?: string;
}

interface Report {
  readonly added: readonly Added[];
  readonly destination: Destination;
  /** As read back, in a trusted folder. */
  readonly servers: readonly AdmittedServer[];
  /** Whether the folder is trusted in fact. */
  readonly trusted: boolean;
}

export function document({ added, destination: { scope, file }, servers, trusted }: Report): object {
  return {
    servers: added.map(({ name, entry, replaced, undo }) => {
      const server = inForce(name, servers);
      const definition = server?.definition;
      return {
        name,
        scope,
        file,
        replaced,
        transport: transportWord(server?.kind),
        ...(scope === "workspace"
          ? { approved: definition !== undefined && server?.origin.file === file, folderTrusted: trusted }
          : {}),
        ...(server && server.origin.file !== file ? { shadowedBy: server.origin } : {}),
        problems: server?.origin.file === file ? server.problems : [],
        notes: [...(definition ? launchNotes(definition.transport) : []), ...hints(entry)],
        ...(undo === undefined ? {} : { undo }),
      };
    }),
  };
}

export function print(report: Report, out: Output): void {
  const { destination, trusted } = report;
  for (const added of report.added) printOne(added, report, out);
  if (destination.scope === "workspace" && !trusted)
    out.warn(safe`The folder is not trusted yet, so nothing in its settings counts.\n  next: fairlead trust add`);
}

function printOne({ name, entry, replaced, undo }: Added, { destination, servers }: Report, out: Output): void {
  const { scope, file } = destination;
  const verb = replaced ? safe`replaced` : safe`added`;
  out.print(safe`${verb} "${toSafeLine(name)}" in ${toSafeLine(file)} (${toSafeLine(scope)})`);
  const server = inForce(name, servers);
  if (server && server.origin.file !== file)
    out.warn(
      safe`note: a stronger entry of that name counts instead: ${place(server.origin)} (${toSafeLine(server.origin.scope)})`,
    );
  else {
    const transport = server?.definition?.transport;
    if (transport) out.print(layout(transportFields(redact(transport), toSafeLine), safe`  `));
    for (const problem of server?.problems ?? []) out.warn(problemLines(problem));
    for (const note of transport ? launchNotes(transport) : []) out.say(safe`note: ${toSafeLine(note)}`);
  }
  for (const hint of hints(entry)) out.warn(safe`warning: ${toSafeLine(hint)}`);
  if (undo !== undefined) out.say(safe`undo: ${toSafeLine(undo)}`);
  else out.say(safe`no undo line: what was replaced holds values that look like secrets, and this may be a log`);
}

function inForce(name: string, servers: readonly AdmittedServer[]): AdmittedServer["server"] | undefined {
  return servers.find(({ server }) => server.name === name)?.server;
}

function hints(entry: Entry): string[] {
  return secretHints(entry).map(
    ({ key, secret }) =>
      `${key} looks like a secret written out; rather store it (fairlead secret set ${secret}) and write \${secret:${secret}} instead`,
  );
}
