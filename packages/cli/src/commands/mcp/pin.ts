/** `fairlead mcp pin`: writes the exact version of a server's package into its entry. */

import { hideInWords } from "@fairlead/console/server/words/server-redaction";
import { HostError } from "@fairlead/core/errors";
import { replaceArgument } from "@fairlead/core/settings";
import { type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust";
import { count, errorDocument, errorLines } from "../../output/output.ts";
import { downloadOf, pinServer, type VersionPin } from "../../pin/pin-server.ts";
import { configurationOf } from "../../shell/configuration.ts";
import { canAsk, confirm } from "../../shell/prompt.ts";
import type { Context, Verb } from "../../shell/verb.ts";
import { approveWritten, destinationOf, isApproved, restore, trustAddLine, type Undo } from "./add/destination.ts";
import { findServer } from "./find-server.ts";

export const verb: Verb = {
  help: `
A server started with npx, uvx or docker without an exact version may change at any time. This command finds the version
that would run now (npm view, uv pip compile, docker image inspect) and writes it into the entry; comments stay.
If the entry is a project's, Fairlead then asks for your approval of the changed entry.

Examples:
  fairlead mcp pin github
  fairlead mcp pin --all --json`,

  define(command) {
    command
      .argument("[name]", "name of the server (see: fairlead mcp list)")
      .option("--all", "pin every server that is downloaded when it starts");
  },

  async run(context) {
    const { out, globals, command, operands } = context;
    const [name] = operands;
    const { all = false } = command.opts<{ all?: boolean }>();
    if ((name === undefined) !== all) throw new HostError("usage", "give one server name, or --all");
    const configuration = await configurationOf(context);
    const chosen = name === undefined ? fetched(configuration) : [findServer(configuration, name)];
    const outcomes: Outcome[] = [];
    for (const server of chosen) {
      const outcome = await pinOne(server, configuration, context);
      outcomes.push(outcome);
      if (outcome.kind === "failed" && !all) throw outcome.error;
      if (!globals.json) print(outcome, context);
    }
    if (globals.json) out.json(document(outcomes));
    else if (chosen.length === 0) out.say(safe`Nothing to pin: no server is downloaded when it starts.`);
    failIfAny(outcomes);
  },
};

type Outcome = { readonly name: string } & (
  | { readonly kind: "unchanged" }
  | { readonly kind: "failed"; readonly error: HostError }
  | {
      readonly kind: "pinned";
      readonly pin: VersionPin;
      readonly scope: "user" | "workspace";
      readonly file: string;
      readonly undo: Undo;
      /** The approval of the changed entry. Absent for user entries, which need none. */
      readonly approval?: { readonly isGiven: boolean; readonly next: string };
    }
);

function fetched({ servers }: Configuration): readonly AdmittedServer[] {
  return servers.filter(
    ({ server: { definition } }) => definition !== undefined && downloadOf(definition) !== undefined,
  );
}

async function pinOne(found: AdmittedServer, configuration: Configuration, context: Context): Promise<Outcome> {
  const { name, scope, definition } = found.server;
  const origin = definition?.extras.origin;
  try {
    const pin = await pinServer(found, configuration, context.io.signal);
    if (pin === undefined) return { kind: "unchanged", name };
    const destination = destinationOf(scope === "user" ? "user" : "project", configuration.locations);
    const approved = await isApproved(name, configuration);
    const { replaced } = await replaceArgument(destination.file, name, pin, destination.edit);
    const undo = restore({ name, entry: replaced, approved, origin }, destination, context);
    const approval =
      destination.scope === "workspace" ? await approveAgain(name, pin, configuration, context) : undefined;
    const { file } = destination;
    return { kind: "pinned", name, pin, scope: destination.scope, file, undo, approval };
  } catch (error) {
    if (error instanceof HostError && error.code !== "cancelled") return { kind: "failed", name, error };
    throw error;
  }
}

/**
 * Asks the user to approve the changed entry, because the stored approval is for the entry without the exact version.
 */
async function approveAgain(
  name: string,
  { before, after }: VersionPin,
  { locations }: Configuration,
  context: Context,
): Promise<{ readonly isGiven: boolean; readonly next: string }> {
  const { io, globals } = context;
  const next = trustAddLine(locations);
  if (globals.json || !canAsk(io)) return { isGiven: false, next };
  const question = safe`Approve ${toVisibleLine(name)} with ${toVisibleLine(after)} instead of ${toVisibleLine(before)}?`;
  if (!(await confirm(io, question))) return { isGiven: false, next };
  const { approved } = await approveWritten([name], destinationOf("project", locations), context);
  return { isGiven: approved.includes(name), next };
}

function failIfAny(outcomes: readonly Outcome[]): void {
  const failed = outcomes.flatMap((outcome) => (outcome.kind === "failed" ? [outcome.error] : []));
  const [first] = failed;
  if (first) throw new HostError(first.code, `not pinned: ${failed.length} of ${count(outcomes.length, "server")}`);
}

function print(outcome: Outcome, { out }: Context): void {
  const name = toVisibleLine(outcome.name);
  switch (outcome.kind) {
    case "unchanged":
      out.print(safe`"${name}" is already pinned`);
      return;
    case "failed":
      out.warn(safe`"${name}": ${errorLines(outcome.error)}`);
      return;
    case "pinned": {
      const { pin, file, undo, approval } = outcome;
      const shown = (word: string): SafeText => toVisibleLine(hideInWords(word));
      out.show(safe`"${name}": ${shown(pin.before)} → ${shown(pin.after)} (${toSafeLine(file)})`);
      if (pin.note !== undefined) out.say(safe`note: ${toSafeLine(pin.note)}`);
      if (approval?.isGiven === false)
        out.warn(safe`"${name}" has changed, so it needs a new approval\n  next: ${toSafeLine(approval.next)}`);
      if ("undo" in undo) out.undo(undo.undo);
      else out.say(safe`cannot be undone: ${toSafeLine(undo.noUndo)}`);
    }
  }
}

function document(outcomes: readonly Outcome[]): object {
  return {
    pinned: outcomes.flatMap((outcome) => {
      if (outcome.kind !== "pinned") return [];
      const { name, scope, file, pin, approval, undo } = outcome;
      const [before, after] = [pin.before, pin.after].map(hideInWords);
      return {
        name,
        scope,
        file,
        before,
        after,
        note: pin.note,
        approved: approval?.isGiven,
        undo: "undo" in undo ? undo.undo : undefined,
      };
    }),
    unchanged: outcomes.flatMap(({ kind, name }) => (kind === "unchanged" ? [name] : [])),
    failed: outcomes.flatMap((outcome) => {
      return outcome.kind === "failed" ? { name: outcome.name, error: errorDocument(outcome.error) } : [];
    }),
  };
}
