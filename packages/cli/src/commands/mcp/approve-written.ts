/** Approves workspace servers that the person has just written with their own command. */

import { approve } from "@fairlead/core/trust/approvals";
import { configurationIfTrusted } from "../../configuration.ts";
import type { Context } from "../../verb.ts";
import type { Destination } from "./destination.ts";

export async function approveWritten(
  names: readonly string[],
  { scope, file }: Destination,
  context: Pick<Context, "globals" | "io">,
): Promise<void> {
  if (scope !== "workspace" || names.length === 0) return;
  const { servers, locations } = await configurationIfTrusted(context);
  const approved = names.flatMap((name) => {
    const definition = servers.find(({ server }) => server.name === name && server.origin.file === file)?.server
      .definition;
    return definition === undefined ? [] : [{ name, fingerprint: definition.fingerprint }];
  });
  if (approved.length > 0) await approve(locations.state, locations.root, approved);
}
