/** Says whether `"trust": true` of a server has an effect, as text and as JSON. */

import { type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust/configuration";
import { type EntryTrust, entryTrust } from "@fairlead/core/trust/entry-trust";
import type { Output } from "../output.ts";

/** Returns what `"trust": true` does, and the next step if it does nothing. Empty without `"trust": true`. */
export function trustValues(
  server: AdmittedServer,
  configuration: Configuration,
  typed: Output["typed"],
): readonly SafeText[] {
  const found = entryTrust(server, configuration);
  if (found === undefined) return [];
  if (found.counts) return [safe`true: the server's tools run without confirmation`];
  const reason = safe`true, but it has no effect: ${toVisibleLine(found.reason)}`;
  // For a server that may not start, the field `next` has the step already.
  const hasNext = server.admission.status === "admitted" && found.next !== undefined;
  return hasNext ? [reason, typed(safe`next: ${toVisibleLine(found.next)}`)] : [reason];
}

/** Returns the member `trustEffect` of the server's JSON. Absent without `"trust": true`. */
export function trustDocument(
  server: AdmittedServer,
  configuration: Configuration,
): { readonly trustEffect?: EntryTrust } {
  const trustEffect = entryTrust(server, configuration);
  return trustEffect === undefined ? {} : { trustEffect };
}
