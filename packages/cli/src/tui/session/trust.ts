/** Asks on the screen whether to trust a workspace; every server is shown as it would run, before any has started. */

import { toVisibleLine } from "@fairlead/core/text/safe-text";
import { approve } from "@fairlead/core/trust/approvals";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { setFolderTrust, TrustLevel } from "@fairlead/core/trust/trusted-folders";
import { type Review, review } from "../../commands/trust/review.ts";
import { captured } from "../captured.ts";
import type { Services } from "../services.ts";

type TrustServices = Pick<Services, "session" | "context" | "settings">;

export function reviewHere({ context }: Pick<Services, "context">): Promise<Review> {
  return review(captured(context).context);
}

/** Whether servers wait for trust or approval, so that the app asks at its start. */
export function hasWaiting({ servers }: Configuration): boolean {
  return servers.some(
    ({ admission }) =>
      admission.status === "blocked" &&
      (admission.reason === "awaiting_approval" || admission.reason === "untrusted_folder"),
  );
}

/** One answer for the folder and all its servers, exactly as shown; `fairlead trust add` asks about each. */
export async function askTrust(found: Review, { session, settings }: TrustServices): Promise<void> {
  const { root, pending, needsTrust, state, trustedFolders } = found;
  const servers = pending.map(({ server, definition, changed }) => ({
    server,
    definition,
    isChanged: changed !== undefined,
  }));
  if (!(await session.ask("trust", { kind: "trust", root, servers })))
    return session.note(
      "info",
      `Not trusted: ${toVisibleLine(root)}. None of its servers was started.`,
      "/trust asks again",
    );
  const approved = pending.map(({ definition }) => definition);
  await settings.change(async () => {
    if (needsTrust) await setFolderTrust(trustedFolders, root, TrustLevel.TRUST_FOLDER);
    if (approved.length > 0) await approve(state, root, approved);
  });
  session.note(
    "info",
    `Trusted: ${toVisibleLine(root)}. Approved: ${approved.map(({ name }) => toVisibleLine(name)).join(", ") || "no servers"}.`,
    "/trust remove revokes it",
  );
  session.host.start().catch(session.fail);
}
