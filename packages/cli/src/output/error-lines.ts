/** Formats an error as text and as JSON. */

import type { HostError } from "@fairlead/core/errors";
import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";

type Told = Pick<HostError, "code" | "message"> & { readonly next?: string | undefined };

/** An error in `--json` documents. `next` is the suggested next step. */
export interface ErrorDocument {
  readonly code: HostError["code"];
  readonly message: string;
  readonly next?: string;
}

/** Returns the message, with the next step on a second line. */
export function errorLines({ message, next }: Omit<Told, "code">): SafeText {
  return next === undefined ? toSafeLine(message) : safe`${toSafeLine(message)}\n  next: ${toSafeLine(next)}`;
}

/** Returns the error as it appears in `--json` documents. */
export function errorDocument({ code, message, next }: Told): ErrorDocument {
  return { code, message, next };
}
