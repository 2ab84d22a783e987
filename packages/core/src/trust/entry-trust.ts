/** Whether `"trust": true` of an entry has an effect here, and if not, why. Pure. */

import { howToTrust } from "./admit.ts";
import type { AdmittedServer, Configuration } from "./configuration.ts";

/** Whether a server's tools run without confirmation because of `"trust": true`. */
export type EntryTrust =
  | { readonly counts: true }
  | {
      readonly counts: false;
      /** Why the setting has no effect, for example because the folder is not trusted. */
      readonly reason: string;
      /** What the user can do. */
      readonly next?: string;
    };

/** Whether `"trust": true` of the server counts. Undefined if its entry does not say `"trust": true`. */
export function entryTrust(
  { server, admission }: AdmittedServer,
  { trust, locations }: Pick<Configuration, "trust" | "locations">,
): EntryTrust | undefined {
  if (server.definition?.trust !== true) return undefined;
  if (admission.status !== "admitted") return { counts: false, reason: admission.message, next: admission.next };
  if (trust.trusted || trust.source === "no_workspace") return { counts: true };
  const reason = `the folder ${locations.root} is not trusted: ${trust.detail}`;
  return { counts: false, reason, next: howToTrust(trust, locations) };
}
