/** Detects in a server's stderr or error message that credentials may be missing, and advises where to set them. */

import type { ServerDefinition } from "../settings/define/definition.ts";

const credentialWords =
  /api[ _-]?key|access[ _-]?key|token|credential|password|secret|unauthori[sz]ed|forbidden|authenticat|\b40[13]\b|log(ged)? ?in|sign(ed)? ?in/i;
const variableName = /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g;

interface Facts {
  readonly definition: ServerDefinition;
  readonly withheld: readonly string[];
}

/**
 * Advice for the user if the `lines` mention credentials or a withheld variable. Undefined otherwise, and for a server
 * that is not a program.
 */
export function credentialHint(lines: readonly string[], { definition, withheld }: Facts): string | undefined {
  const { name, transport, origin } = definition;
  if (transport.kind !== "stdio") return undefined;
  const text = lines.join("\n");
  const named = new Set(text.match(variableName));
  const fileAndLine = `${origin.file}:${origin.line}`;
  const kept = withheld.find((variable) => named.has(variable));
  if (kept !== undefined)
    return `Add "env": {"${kept}": "$${kept}"} to "${name}" (${fileAndLine}): servers get only the variables in their "env".`;
  if (!credentialWords.test(text)) return undefined;
  const set = [...transport.env.keys()];
  return set.length === 0
    ? `If the server needs credentials, add them to "env" of "${name}" (${fileAndLine}): servers get only the variables in their "env".`
    : `Check the values in "env" of "${name}" (${fileAndLine}): ${set.join(", ")}.`;
}
