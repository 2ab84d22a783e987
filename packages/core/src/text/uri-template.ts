/** Parses, matches and expands URI templates (RFC 6570, all four levels). Matching takes linear time. */

import { clip } from "@fairlead/wire/text";
import { HostError } from "../errors.ts";

/** The first character of an expression, such as `?` in `{?x}`; empty if there is none. */
export type Operator = "" | "+" | "#" | "." | "/" | ";" | "?" | "&";

/** One variable of an expression, with its modifier. */
export interface Variable {
  readonly name: string;
  /** True if each item of a list is expanded separately (`*`). */
  readonly explode: boolean;
  /** Maximum number of characters of the value (`:n`). */
  readonly prefix?: number;
}

/** The text between `{` and `}`, parsed. */
export interface Expression {
  readonly kind: "expression";
  readonly operator: Operator;
  readonly variables: readonly Variable[];
}

export type TemplatePiece = { readonly kind: "literal"; readonly text: string } | Expression;

/** A parsed template, or the reason why it is malformed. */
export type UriTemplate =
  | {
      readonly kind: "template";
      readonly pieces: readonly TemplatePiece[];
      /** The names of the variables, without repeats. */
      readonly variables: readonly string[];
    }
  /** The template is malformed. `reason` continues a sentence that begins with "the template". */
  | { readonly kind: "malformed"; readonly reason: string };

/** Maximum characters of a URI. A longer URI is neither expanded nor matched. */
export const longestUri = 65_536;
const longestTemplate = 8192;
const mostVariables = 128;

const operators: ReadonlyMap<string, Operator> = new Map(
  (["+", "#", ".", "/", ";", "?", "&"] as const).map((operator) => [operator, operator]),
);
/** Characters that RFC 6570 reserves for future operators. */
const reserved = "=,!@|$";
/** Matches a variable name. Fairlead allows hyphens, although RFC 6570 does not, because many servers use them. */
const variableName = /^(?:\w|%[0-9A-Fa-f]{2})(?:[\w.-]|%[0-9A-Fa-f]{2})*$/;
const prefixLength = /^[1-9]\d{0,3}$/;

/** Parses a template. Never throws; a malformed template gives the result `malformed`. */
export function parseTemplate(text: string): UriTemplate {
  if (text.length > longestTemplate) return malformed(`is longer than ${longestTemplate} characters`);
  const pieces: TemplatePiece[] = [];
  const names = new Set<string>();
  let count = 0;
  for (let at = 0; at < text.length; ) {
    const open = text.indexOf("{", at);
    const literal = text.slice(at, open === -1 ? undefined : open);
    if (literal.includes("}")) return malformed(`has a "}" without a "{"`);
    if (literal !== "") pieces.push({ kind: "literal", text: literal });
    if (open === -1) break;
    const close = text.indexOf("}", open);
    if (close === -1) return malformed(`has a "{" without a "}"`);
    const expression = parseExpression(text.slice(open + 1, close));
    if (typeof expression === "string") return malformed(expression);
    count += expression.variables.length;
    if (count > mostVariables) return malformed(`has more than ${mostVariables} variables`);
    for (const { name } of expression.variables) names.add(name);
    pieces.push(expression);
    at = close + 1;
  }
  return { kind: "template", pieces, variables: [...names] };
}

function parseExpression(inside: string): Expression | string {
  const first = inside.charAt(0);
  if (first !== "" && reserved.includes(first)) return `uses "${first}", a reserved operator, in {${clip(inside, 60)}}`;
  const operator = operators.get(first) ?? "";
  const variables: Variable[] = [];
  for (const spec of inside.slice(operator.length).split(",", mostVariables + 1)) {
    const variable = parseVariable(spec);
    if (variable === undefined) return `has an invalid variable in {${clip(inside, 60)}}`;
    variables.push(variable);
  }
  return { kind: "expression", operator, variables };
}

function parseVariable(spec: string): Variable | undefined {
  const explode = spec.endsWith("*");
  const [name = "", prefix, ...more] = (explode ? spec.slice(0, -1) : spec).split(":", 3);
  if (!variableName.test(name) || more.length > 0) return undefined;
  if (prefix === undefined) return { name, explode };
  return explode || !prefixLength.test(prefix) ? undefined : { name, explode, prefix: Number(prefix) };
}

function malformed(reason: string): UriTemplate {
  return { kind: "malformed", reason };
}

const notUnreserved = /[^A-Za-z0-9\-._~]+/gu;
/** Matches characters that must be encoded. A percent-encoded byte is not encoded again. */
const notInUri = /[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+|%(?![0-9A-Fa-f]{2})/gu;

/** Percent-encodes a value, including characters that have a meaning in a URI, such as `/`. */
export function encodeValue(text: string): string {
  return text.replaceAll(notUnreserved, toBytes);
}

/** Percent-encodes a part of a URI, except characters that have a meaning in a URI, such as `/`. */
export function encodeUri(text: string): string {
  return text.replaceAll(notInUri, toBytes);
}

/** Percent-encodes all characters as UTF-8. A lone surrogate becomes the replacement character. */
function toBytes(text: string): string {
  return Buffer.from(text, "utf8").toString("hex").toUpperCase().replaceAll(/../g, "%$&");
}

/** One number for each position in the URI: 1 if the matched part of the template can end there, otherwise 0. */
type EndPositions = Uint8Array<ArrayBuffer>;

/** A template that is ready to be compared with many URIs. */
export interface TemplateMatcher {
  /** The text before the first expression. Every URI that the template produces begins with it. */
  readonly prefix: string;
  /** How often a comparison reads the URI at most. */
  readonly passes: number;
  /**
   * Whether the template could produce the URI. Allows more than RFC 6570, because it only decides which server to ask.
   *
   * @param encoded The URI, as `encodeUri` returns it.
   */
  readonly matches: (encoded: string) => boolean;
}

/** Prepares a template. Returns undefined if the template is malformed: no URI matches it. */
export function createTemplateMatcher(template: string): TemplateMatcher | undefined {
  const parsed = parseTemplate(template);
  if (parsed.kind === "malformed") return undefined;
  const pieces = parsed.pieces.map((piece) =>
    piece.kind === "literal" ? { ...piece, text: encodeUri(piece.text) } : piece,
  );
  const [first] = pieces;
  const prefix = first?.kind === "literal" ? first.text : "";
  const variables = pieces.reduce((sum, piece) => sum + (piece.kind === "literal" ? 0 : piece.variables.length), 0);
  return {
    prefix,
    passes: pieces.length + variables,
    matches(encoded) {
      if (!encoded.startsWith(prefix)) return false;
      let ends: EndPositions = new Uint8Array(encoded.length + 1);
      ends[0] = 1;
      for (const piece of pieces) ends = step(piece, encoded, ends);
      return ends[encoded.length] === 1;
    },
  };
}

/** Whether the template could produce the URI, as `TemplateMatcher.matches`. */
export function matchesTemplate(uri: string, template: string): boolean {
  if (uri.length > longestUri) return false;
  return createTemplateMatcher(template)?.matches(encodeUri(uri)) ?? false;
}

/** `piece`: with its literal text percent-encoded. */
function step(piece: TemplatePiece, text: string, from: EndPositions): EndPositions {
  if (piece.kind === "expression") return run(piece, text, from);
  const to: EndPositions = new Uint8Array(from.length);
  for (let at = 0; at < from.length; at += 1)
    if (from[at] === 1 && text.startsWith(piece.text, at)) to[at + piece.text.length] = 1;
  return to;
}

interface Shape {
  /** The first character of an expansion that is not empty, such as `?`. */
  readonly start: string;
  /** Characters that a value cannot contain. */
  readonly ends: string;
  /**
   * Present if the URI contains the name of each value (`?name=value`). `equals` is the text that must follow the name.
   */
  readonly named?: { readonly separator: string; readonly equals: string };
}

const shapes: Readonly<Record<Operator, Shape>> = {
  "": { start: "", ends: "/?#" },
  "+": { start: "", ends: "" },
  "#": { start: "#", ends: "" },
  ".": { start: ".", ends: "/?#" },
  "/": { start: "/", ends: "/?#" },
  ";": { start: ";", ends: "/?#", named: { separator: ";", equals: "" } },
  "?": { start: "?", ends: "#", named: { separator: "&", equals: "=" } },
  "&": { start: "&", ends: "#", named: { separator: "&", equals: "=" } },
};

/** Returns each position at which the expansion can end. The expansion starts at a position in `from`. */
function run({ operator, variables }: Expression, text: string, from: EndPositions): EndPositions {
  const to = from.slice();
  const { start, ends, named } = shapes[operator];
  const takesPaths = variables.some(({ explode }) => explode) || (operator === "/" && variables.length > 1);
  const isEnd = (character: string): boolean => ends.includes(character) && !(takesPaths && character === "/");
  // Does not check names for `{?x*}`. Its value may be an object, and the URI then contains the keys of the object
  // instead of `x`.
  const names = named && !takesPaths ? variables.map(({ name }) => name + named.equals) : undefined;
  const isNamed = (at: number): boolean => names?.some((name) => text.startsWith(name, at)) ?? true;
  let isInside = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    const begins = from[at] === 1 && (start === "" ? !isEnd(character) : character === start && isNamed(at + 1));
    const goesOn: boolean = isInside && !isEnd(character) && (character !== named?.separator || isNamed(at + 1));
    isInside = begins || goesOn;
    if (isInside) to[at + 1] = 1;
  }
  return to;
}

/** The value of a variable: a text, a list, or pairs of names and values. */
type TemplateValue = string | readonly string[] | Readonly<Record<string, string>>;
/** Values by variable name. An undefined value and an empty list add nothing to the URI. */
export type TemplateValues = Readonly<Record<string, TemplateValue | undefined>>;

interface Style {
  readonly first: string;
  readonly separator: string;
  /**
   * Present if the URI contains the name of each value (`?name=value`). `empty` follows the name if the value is empty.
   */
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
 * Returns the URI that the template produces with these values (RFC 6570).
 *
 * @throws HostError `protocol` if the template is malformed, `too_large` if the URI is too long, `arguments_invalid` if
 * the template takes the first characters (`{name:3}`) of a value that is not a string
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
    throw new HostError("arguments_invalid", `"${name}" must be a string: the template uses only its first characters`);
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
