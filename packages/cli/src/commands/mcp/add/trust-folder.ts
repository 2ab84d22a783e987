/** Asks on a terminal whether to trust the folder that `mcp add` has just written to. */

import { HostError } from "@fairlead/core/errors";
import { safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { setFolderTrust, TrustLevel } from "@fairlead/core/trust/trusted-folders";
import { canAsk, confirm } from "../../../shell/prompt.ts";
import type { Context } from "../../../shell/verb.ts";
import { trustAddLine } from "./destination.ts";

/**
 * Asks the user whether to trust the folder, and trusts it after a yes. Does not ask with `--json` or without a
 * terminal. Does not ask if a trust rule, an option or a variable already trusts or distrusts the folder.
 */
export async function askToTrust(
  { trust, locations }: Configuration,
  { io, out, globals }: Context,
): Promise<"yes" | "no" | "not_asked"> {
  if (trust.trusted || trust.source !== "default" || globals.json || !canAsk(io)) return "not_asked";
  const { root, trustedFolders } = locations;
  out.warn(
    safe`A project's server starts only in a trusted folder. In a trusted folder, Fairlead reads .gemini/settings.json, .env files and policy files.`,
  );
  const isTrusted = await confirm(io, safe`Trust ${toVisibleLine(root)}?`).catch((error: unknown) => {
    throw error instanceof HostError && error.code === "cancelled"
      ? new HostError("cancelled", "cancelled: the server was added, the folder is not trusted", {
          next: trustAddLine(locations),
        })
      : error;
  });
  if (!isTrusted) return "no";
  await setFolderTrust(trustedFolders, root, TrustLevel.TRUST_FOLDER);
  out.print(safe`trusted: ${toVisibleLine(root)}`);
  return "yes";
}
