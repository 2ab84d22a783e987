/**
 * Finds the settings file that `mcp add`, `import`, `pin` or `remove` changes, and builds the command that undoes the
 * change.
 */

import { holdsSecret } from "@fairlead/console/server/words/server-redaction";
import { HostError } from "@fairlead/core/errors";
import { explain } from "@fairlead/core/files";
import { toShellWord } from "@fairlead/core/plain-text";
import {
  type ConfiguredServer,
  type EditOptions,
  type Locations,
  type Origin,
  whyNotServerName,
} from "@fairlead/core/settings";
import { toSafeJson, toSafeLine } from "@fairlead/core/text/safe-text";
import { approve, type Configuration, isApprovedBy, readApprovals } from "@fairlead/core/trust";
import { isObject } from "@fairlead/wire/json";
import { type Command, Option } from "commander";
import { configurationIfTrusted } from "../../../shell/configuration.ts";
import type { Context, Globals } from "../../../shell/verb.ts";
import { type Entry, refuseInvalidEntry } from "./new-entry.ts";
import { sandboxWord } from "./sandbox-offer.ts";

/** The values of `--scope`. `project` is Gemini CLI's word for the workspace scope. */
export type ScopeWord = "user" | "project";

/** The settings file that a command writes to. `word` is the scope as a value of `--scope`. */
export interface Destination {
  readonly scope: "user" | "workspace";
  readonly file: string;
  readonly word: ScopeWord;
  readonly edit: EditOptions;
}

/** Adds `--scope` to the command. `help` is the option's help text. */
export function scopeOption(command: Command, help: string): void {
  command.addOption(new Option("-s, --scope <scope>", help).choices(["user", "project"]));
}

/** Returns the settings file of a scope. @throws HostError `usage` if there is no workspace */
export function destinationOf(word: ScopeWord, { files, root }: Locations): Destination {
  const scope = word === "user" ? "user" : "workspace";
  const file = files[scope];
  if (file !== undefined) return { scope, file, word, edit: scope === "workspace" ? { within: root } : {} };
  throw new HostError("usage", "there is no project: this is the home folder, or --no-workspace is set", {
    next: "add -s user, or -C DIR for a project in another folder",
  });
}

/**
 * Returns scope, file and line of each settings entry with this name. Fairlead uses the first and ignores the others.
 */
export function placesOf(name: string, { servers }: Configuration): readonly Origin[] {
  const found: ConfiguredServer | undefined = servers.find(({ server }) => server.name === name)?.server;
  return found === undefined ? [] : [found.origin, ...found.shadows];
}

/** Which of the written servers were approved, and why the others were not. */
export interface WrittenApproval {
  readonly approved: readonly string[];
  /**
   * Servers that could not be approved, because the workspace's .env file sets variables that the user has not seen.
   */
  readonly unseen: readonly { readonly name: string; readonly variables: readonly string[] }[];
  /** Why the approvals could not be stored. The entries were written to the settings nevertheless. */
  readonly failure?: string;
}

/** The result if Fairlead approved no server, because none needed an approval or the user did not want it. */
export const noApproval: WrittenApproval = { approved: [], unseen: [] };

/** Approves workspace servers that the user has just added on the command line. */
export async function approveWritten(
  names: readonly string[],
  { scope, file }: Destination,
  context: Pick<Context, "globals" | "io" | "out">,
): Promise<WrittenApproval> {
  if (scope !== "workspace" || names.length === 0) return noApproval;
  const { servers, locations } = await configurationIfTrusted(context);
  const written = servers.flatMap(({ server: { name, origin, definition } }) =>
    names.includes(name) && origin.file === file && definition !== undefined ? [definition] : [],
  );
  const unseen = written
    .map(({ name, variables }) => ({
      name,
      variables: variables.filter(({ from }) => from === "workspace-env-file").map((use) => use.name),
    }))
    .filter(({ variables }) => variables.length > 0);
  const seen = written.filter(({ name }) => !unseen.some((one) => one.name === name));
  if (seen.length === 0) return { approved: [], unseen };
  try {
    await approve(locations.state, locations.root, seen);
    return { approved: seen.map(({ name }) => name), unseen };
  } catch (error) {
    return { approved: [], unseen, failure: explain(error) };
  }
}

/**
 * Whether the current entry with this name is approved. If approvals cannot be read, the entry counts as not approved.
 */
export async function isApproved(name: string, { servers, locations }: Configuration): Promise<boolean> {
  const definition = servers.find(({ server }) => server.name === name)?.server.definition;
  const approvals = await readApprovals(locations.state).catch(() => undefined);
  const approval = approvals?.get(locations.root)?.get(name);
  return definition !== undefined && isApprovedBy(approval, definition);
}

/** Returns the `trust add` command for this workspace. The command names the folder only if the user gave `-C`. */
export function trustAddLine({ root, rootFrom }: Pick<Locations, "root" | "rootFrom">): string {
  return rootFrom === "option" ? `fairlead trust add ${toShellWord(root)}` : "fairlead trust add";
}

/** `undo`: the command that undoes the change. `noUndo`: why there is none, printed after "cannot be undone: ". */
export type Undo = { readonly undo: string } | { readonly noUndo: string };

/** Returns the `mcp remove` command that undoes `mcp add`. */
export function removeLine(name: string, scope: ScopeWord, globals: Globals): string {
  return `fairlead mcp remove ${placeWords(globals)}-s ${scope} ${toShellWord(name)}`;
}

/**
 * The name for a server that brings its own name, checked before anything is asked, stored or unpacked.
 *
 * @throws HostError `usage` if it is no name, or if it is taken
 */
export function newServerName(
  name: string,
  { replace }: { readonly replace: boolean },
  configuration: Configuration,
): string {
  const flaw = whyNotServerName(name);
  if (flaw !== undefined)
    throw new HostError("usage", `"${name}" is not a valid server name: it ${flaw}`, {
      next: "choose another: --name NAME",
    });
  const [taken] = placesOf(name, configuration);
  if (taken === undefined || replace) return name;
  throw new HostError("usage", `there is already a server "${name}" in ${taken.file}; nothing was changed`, {
    next: "choose another name: --name NAME, or add --replace",
  });
}

interface Before {
  readonly name: string;
  /** The entry's value in the file before the change. */
  readonly entry: unknown;
  /** Whether the entry was approved before the change. If not, the undo command has `--no-approve`. */
  readonly approved: boolean;
  /** Present if the change also changed `fairlead.servers.NAME.sandbox`, with the value before it. */
  readonly sandbox?: { readonly before: unknown };
  /** `fairlead.servers.NAME.origin` before the change: `mcp add` forgets it with the entry that it replaces. */
  readonly origin?: unknown;
}

/** Returns the command that restores an entry, or why there is none. Literal secrets are printed only on a terminal. */
export function restore(
  { name, entry, approved, sandbox, origin }: Before,
  { scope, word }: Pick<Destination, "scope" | "word">,
  { io, globals }: Pick<Context, "io" | "globals">,
): Undo {
  if (!isObject(entry)) return { noUndo: "the previous value was not an object" };
  const refusal = whyRefused(name, entry, scope);
  if (refusal !== undefined) return { noUndo: `fairlead mcp add would refuse the previous entry: ${refusal}` };
  const isForEyes = (globals.json ? io.stdout : io.stderr).isTTY === true;
  if (holdsSecret(entry) && !isForEyes)
    return { noUndo: "the entry had literal values that may be secrets, and the output is not a terminal" };
  const sandboxBefore = sandbox && sandboxWord(sandbox.before);
  if (sandbox !== undefined && sandboxBefore === undefined) return { noUndo: "the previous sandbox was not valid" };
  const boxed = sandboxBefore === undefined ? "" : `--sandbox ${toShellWord(sandboxBefore)} `;
  const from = isObject(origin) ? `--origin ${toShellWord(toSafeJson(origin, 0))} ` : "";
  const options = `${placeWords(globals)}--replace ${boxed}${from}${scope === "workspace" && !approved ? "--no-approve " : ""}-s ${word}`;
  const undo = `fairlead mcp add ${options} ${toShellWord(name)} ${toShellWord(toSafeJson(entry, 0))}`;
  return toSafeLine(undo) === undo ? { undo } : { noUndo: "the entry has control or invisible characters" };
}

function whyRefused(name: string, entry: Entry, scope: Destination["scope"]): string | undefined {
  const flaw = whyNotServerName(name);
  if (flaw !== undefined) return `its name ${flaw}`;
  try {
    refuseInvalidEntry({ name, entry }, scope);
    return undefined;
  } catch (error) {
    if (error instanceof HostError) return error.message;
    throw error;
  }
}

/** Returns the user's `-C` and `--settings` options for a suggested command, each followed by a space. */
export function placeWords({ root, settings }: Globals): string {
  const words = [
    root === undefined ? "" : `-C ${toShellWord(root)} `,
    settings === undefined ? "" : `--settings ${toShellWord(settings)} `,
  ];
  return words.join("");
}
