/** One settings problem as text: `FILE:LINE:COLUMN: severity: message`, then the next step. */

import type { Problem } from "@fairlead/core/settings/define/definition";
import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { place } from "./servers/server-details.ts";

export function problemLines({ severity, message, origin, next }: Problem): SafeText {
  const where = origin === undefined ? safe`` : safe`${place(origin)}: `;
  const hint = next === undefined ? safe`` : safe`\n  next: ${toSafeLine(next)}`;
  return safe`${where}${toSafeLine(severity)}: ${toSafeLine(message)}${hint}`;
}
