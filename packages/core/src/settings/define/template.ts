/** The little language of settings values: `$NAME`, `${NAME}`, `${NAME:-default}`, `${secret:NAME}`, and `$$` for a dollar sign. */

export type TemplatePart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "variable"; readonly name: string; readonly fallback?: string }
  | { readonly kind: "secret"; readonly name: string };

export type Template =
  | { readonly kind: "parts"; readonly parts: readonly TemplatePart[] }
  /** The reason completes "cannot be expanded: …". */
  | { readonly kind: "malformed"; readonly reason: string };

// A dollar sign before anything else is just a dollar sign.
const special = /\$(?:\$|(?<bare>[A-Za-z_]\w*)|\{(?<braced>[^}]*)(?<closed>\})?)/g;
const inBraces = /^(?:secret:(?<secret>[^:$\s]+)|(?<name>[A-Za-z_]\w*)(?::-(?<fallback>.*))?)$/s;

export function parseVariables(text: string): Template {
  const parts: TemplatePart[] = [];
  let end = 0;
  for (const match of text.matchAll(special)) {
    if (match.index > end) parts.push({ kind: "text", text: text.slice(end, match.index) });
    end = match.index + match[0].length;
    const part = toPart(match[0], match.groups ?? {});
    if (typeof part === "string") return { kind: "malformed", reason: part };
    parts.push(part);
  }
  if (end < text.length) parts.push({ kind: "text", text: text.slice(end) });
  return { kind: "parts", parts };
}

function toPart(written: string, { bare, braced, closed }: Record<string, string | undefined>): TemplatePart | string {
  if (bare !== undefined) return { kind: "variable", name: bare };
  if (braced === undefined) return { kind: "text", text: "$" };
  if (closed === undefined) return `"${written}" has no closing "}"`;
  const { secret, name, fallback } = inBraces.exec(braced)?.groups ?? {};
  if (secret !== undefined) return { kind: "secret", name: secret };
  // A default is taken as it is; one that looks like a variable would not become its value.
  if (name === undefined || fallback?.includes("${"))
    return `"${written}" is none of \${NAME}, \${NAME:-default} and \${secret:NAME}`;
  return { kind: "variable", name, ...(fallback === undefined ? {} : { fallback }) };
}

/** What stands for a variable: its value, or its default when it is unset or empty. */
export function valueOfVariable(
  part: TemplatePart & { kind: "variable" },
  values: ReadonlyMap<string, string>,
): string | undefined {
  const value = values.get(part.name);
  return part.fallback !== undefined && (value === undefined || value === "") ? part.fallback : value;
}
