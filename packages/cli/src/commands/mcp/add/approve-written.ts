/** Approves workspace servers that the user has just added on the command line. */

import { explain } from "@fairlead/core/files/system-error";
import type { Locations } from "@fairlead/core/settings/read/paths";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { approve, isApprovedBy, readApprovals } from "@fairlead/core/trust/approvals";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { configurationIfTrusted } from "../../../shell/configuration.ts";
import type { Context } from "../../../shell/verb.ts";
import type { Destination } from "./destination.ts";

export interface WrittenApproval {
  readonly approved: readonly string[];
  /** Not approved: the workspace's .env file sets variables of the entry that the user has not seen. */
  readonly unseen: readonly { readonly name: string; readonly variables: readonly string[] }[];
  /** Why the approvals could not be stored; the entries stay in the settings. */
  readonly failure?: string;
}

export const noApproval: WrittenApproval = { approved: [], unseen: [] };

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

/** Whether the current entry with this name is approved; unreadable approvals count as none. */
export async function isApproved(name: string, { servers, locations }: Configuration): Promise<boolean> {
  const definition = servers.find(({ server }) => server.name === name)?.server.definition;
  const approvals = await readApprovals(locations.state).catch(() => undefined);
  const approval = approvals?.get(locations.root)?.get(name);
  return definition !== undefined && isApprovedBy(approval, definition);
}

/** The `trust add` command for this root; it names the folder only if `-C` selected it. */
export function trustAddLine({ root, rootFrom }: Pick<Locations, "root" | "rootFrom">): string {
  return rootFrom === "option" ? `fairlead trust add ${toShellWord(root)}` : "fairlead trust add";
}
