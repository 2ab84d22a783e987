/** The settings file that `mcp add`, `import`, `pin` and `remove` write to, and the approval of servers written there. */

import { HostError } from "@fairlead/core/errors";
import { explain } from "@fairlead/core/files/system-error";
import type { ConfiguredServer, Origin } from "@fairlead/core/settings/define/definition";
import type { EditOptions } from "@fairlead/core/settings/edit";
import type { Locations } from "@fairlead/core/settings/read/paths";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { approve, readApprovals } from "@fairlead/core/trust/approvals";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { type Command, Option } from "commander";
import { configurationIfTrusted } from "../../../shell/configuration.ts";
import type { Context } from "../../../shell/verb.ts";

/** `project` is Gemini CLI's word for the workspace scope. */
export type ScopeWord = "user" | "project";

export interface Destination {
  readonly scope: "user" | "workspace";
  readonly file: string;
  readonly word: ScopeWord;
  readonly edit: EditOptions;
}

export function scopeOption(command: Command, help: string): void {
  command.addOption(new Option("-s, --scope <scope>", help).choices(["user", "project"]));
}

export function destinationOf(word: ScopeWord, { files, root }: Locations): Destination {
  const scope = word === "user" ? "user" : "workspace";
  const file = files[scope];
  if (file !== undefined) return { scope, file, word, edit: scope === "workspace" ? { within: root } : {} };
  throw new HostError("usage", "no project here: the home folder is not a workspace, or --no-workspace is set", {
    next: "add -s user, or -C DIR for a project in another folder",
  });
}

/** Returns where entries with this name are defined, strongest first, including replaced entries. */
export function placesOf(name: string, { servers }: Configuration): readonly Origin[] {
  const found: ConfiguredServer | undefined = servers.find(({ server }) => server.name === name)?.server;
  return found === undefined ? [] : [found.origin, ...found.shadows];
}

export interface WrittenApproval {
  readonly approved: readonly string[];
  /** Not approved: the workspace's .env file sets variables of the entry that the user has not seen. */
  readonly unseen: readonly { readonly name: string; readonly variables: readonly string[] }[];
  /** Why the approvals could not be stored; the entries stay in the settings. */
  readonly failure?: string;
}

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
    await approve(
      locations.state,
      locations.root,
      seen.map(({ name, fingerprint }) => ({ name, fingerprint })),
    );
    return { approved: seen.map(({ name }) => name), unseen };
  } catch (error) {
    return { approved: [], unseen, failure: explain(error) };
  }
}

/** Whether the current entry with this name is approved; unreadable approvals count as none. */
export async function isApproved(name: string, { servers, locations }: Configuration): Promise<boolean> {
  const definition = servers.find(({ server }) => server.name === name)?.server.definition;
  const approvals = await readApprovals(locations.state).catch(() => undefined);
  const approval = approvals?.get(locations.root)?.get(name);
  return definition !== undefined && approval?.fingerprint === definition.fingerprint;
}

/** The `trust add` command for this root; it names the folder only if `-C` selected it. */
export function trustAddLine({ root, rootFrom }: Pick<Locations, "root" | "rootFrom">): string {
  return rootFrom === "option" ? `fairlead trust add ${toShellWord(root)}` : "fairlead trust add";
}
