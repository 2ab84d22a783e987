/** Expands URI templates of RFC 6570, all four levels. Pure. */

import { HostError } from "../../errors.ts";
import { encodeUri, encodeValue } from "./percent-encoding.ts";
import { type Expression, longestUri, type Operator, parseTemplate, type Variable } from "./uri-template.ts";

/** A text, a list, or pairs of names and values. */
export type TemplateValue = string | readonly string[] | Readonly<Record<string, string>>;
/** Values by variable name. Undefined and empty values add nothing to the URI. */
export type TemplateValues = Readonly<Record<string, TemplateValue | undefined>>;

interface Style {
  readonly first: string;
  readonly separator: string;
  /** Set if values are written after their names: the text after the name of an empty value. */
  readonly named?: { readonly empty: string };
  readonly encode: (text: string) => string;
}

const styles: Readonly<Record<Operator, Style>> = {
  "": { first: "", separator: ",", encode: encodeValue },
  "+": { first: "", separator: ",", encode: encodeUri },
  "#": { first: "#", separator: ",", encode: encodeUri },
  ".": { first: ".", separator: ".", encode: encodeValue },
  "/": { first: "/", separator: "/", encode: encodeValue },
  ";": { first: ";", separator: ";", named: { empty: "" }, encode: encodeValue },
  "?": { first: "?", separator: "&", named: { empty: "=" }, encode: encodeValue },
  "&": { first: "&", separator: "&", named: { empty: "=" }, encode: encodeValue },
};

/**
 * Expands a template.
 *
 * @throws HostError `protocol` if the template is malformed, `too_large`, `arguments_invalid`
 */
export function expandTemplate(template: string, values: TemplateValues): string {
  const parsed = parseTemplate(template);
  if (parsed.kind === "malformed") throw new HostError("protocol", `the template ${parsed.reason}`);
  let uri = "";
  for (const piece of parsed.pieces) {
    uri += piece.kind === "literal" ? encodeUri(piece.text) : expand(piece, values);
    if (uri.length > longestUri)
      throw new HostError("too_large", `the values make a URI of more than ${longestUri} characters`);
  }
  return uri;
}

function expand({ operator, variables }: Expression, values: TemplateValues): string {
  const style = styles[operator];
  const parts = variables.flatMap((variable) => {
    const value = Object.hasOwn(values, variable.name) ? values[variable.name] : undefined;
    return value === undefined ? [] : partsOf(variable, value, style);
  });
  return parts.length === 0 ? "" : style.first + parts.join(style.separator);
}

function partsOf(variable: Variable, value: TemplateValue, style: Style): readonly string[] {
  const { name, prefix } = variable;
  if (typeof value === "string") {
    const text = prefix === undefined ? value : Array.from(value).slice(0, prefix).join("");
    return [withName(encodeUri(name), style.encode(text), style)];
  }
  if (prefix !== undefined)
    throw new HostError("arguments_invalid", `"${name}" must be a string: the template takes its first characters`);
  return isList(value) ? listParts(variable, value, style) : pairParts(variable, Object.entries(value), style);
}

function listParts({ name, explode }: Variable, list: readonly string[], style: Style): readonly string[] {
  const members = list.map(style.encode);
  if (explode) return members.map((member) => withName(encodeUri(name), member, style));
  return members.length === 0 ? [] : [withName(encodeUri(name), members.join(","), style)];
}

function pairParts(
  { name, explode }: Variable,
  pairs: readonly (readonly [string, string])[],
  style: Style,
): readonly string[] {
  const encoded = pairs.map(([key, value]) => [style.encode(key), style.encode(value)] as const);
  if (explode) return encoded.map(([key, value]) => (style.named ? withName(key, value, style) : `${key}=${value}`));
  return encoded.length === 0 ? [] : [withName(encodeUri(name), encoded.flat().join(","), style)];
}

function withName(name: string, value: string, { named }: Style): string {
  if (named === undefined) return value;
  return value === "" ? name + named.empty : `${name}=${value}`;
}

function isList(value: TemplateValue): value is readonly string[] {
  return Array.isArray(value);
}
