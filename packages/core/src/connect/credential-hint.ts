/** A program that has no credentials says so in its own words; this finds the variable that it lacks. */

import type { ServerDefinition } from "../settings/define/definition.ts";

const credentialWords =
  /api[ _-]?key|access[ _-]?key|token|credential|password|secret|unauthori[sz]ed|forbidden|authenticat|\b40[13]\b|log(ged)? ?in|sign(ed)? ?in/i;
const variableName = /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g;

interface Facts {
  readonly definition: ServerDefinition;
  readonly withheld: readonly string[];
}

/** What to do about it, if `lines` read like it. */
export function credentialHint(lines: readonly string[], { definition, withheld }: Facts): string | undefined {
  const { transport, origin } = definition;
  if (transport.kind !== "stdio") return undefined;
  const text = lines.join("\n");
  const named = new Set(text.match(variableName));
  const place = `${origin.file}:${origin.line}`;
  const kept = withheld.find((name) => named.has(name));
  if (kept !== undefined)
    return `${kept} is set here, but a server sees only what its entry names: add "env": {"${kept}": "$${kept}"} (${place}).`;
  if (!credentialWords.test(text)) return undefined;
  const set = [...transport.env.keys()];
  return set.length === 0
    ? `If it needs credentials, name them in "env" of its entry (${place}): it sees nothing else of your environment.`
    : `Check the values that its entry sets in "env" (${place}): ${set.join(", ")}.`;
}
