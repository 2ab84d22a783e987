/** `fairlead trust remove`: removes a folder's trust rule and the approvals of its servers. */

import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { locate } from "@fairlead/core/settings/read/paths";
import { joinSafe, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { revoke } from "@fairlead/core/trust/approvals";
import { removeFolderTrust } from "@fairlead/core/trust/trusted-folders";
import { configurationOptions, lastingConfiguration } from "../../shell/configuration.ts";
import type { Context, Verb } from "../../shell/verb.ts";

export const verb: Verb = {
  help: `
Removes the folder's own rule and all approvals of its servers. A rule for a parent folder still applies.

Examples:
  fairlead trust remove
  fairlead trust remove ~/projects/shop`,

  define: (command) => command.argument("[dir]", "the folder whose rule to remove; default: the workspace root"),

  async run(context) {
    const { out, globals } = context;
    const folder = await folderOf(context);
    const { trustedFolders, state } = await locate(configurationOptions(context));
    const removed = await removeFolderTrust(trustedFolders, folder);
    const revoked = await revoke(state, folder);
    if (!removed && revoked.length === 0)
      throw new HostError("usage", `"${folder}" has no trust rule and no approved servers`, {
        next: "fairlead trust list",
      });
    const still = await trustAbove(context, folder);
    if (globals.json) return out.json({ folder, removed, revoked, trusted: still !== undefined });
    if (removed) out.show(safe`removed the trust rule of ${toSafeLine(folder)}`);
    if (revoked.length > 0) out.show(safe`no longer approved: ${joinSafe(revoked.map(toSafeLine), safe`, `)}`);
    if (still !== undefined) out.warn(safe`warning: the folder is still trusted: ${toSafeLine(still)}`);
  },
};

/**
 * Returns the parent rule or the setting that still trusts the folder. Returns undefined if there is none or the folder
 * does not exist.
 */
async function trustAbove(context: Context, folder: string): Promise<string | undefined> {
  const isThere = (await stat(folder).catch(() => undefined))?.isDirectory() ?? false;
  if (!isThere) return undefined;
  const { trust } = await lastingConfiguration({ ...context, globals: { ...context.globals, root: folder } });
  return trust.trusted ? trust.detail : undefined;
}

/**
 * Returns the folder's real path. If the folder does not exist, returns the path as written, so that its rule can be
 * removed.
 */
async function folderOf(context: Context): Promise<string> {
  const [folder] = context.operands;
  if (folder === undefined) return (await locate(configurationOptions(context))).root;
  const path = resolve(context.io.cwd, folder);
  return realpath(path).catch(() => path);
}
