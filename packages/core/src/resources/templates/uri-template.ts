/** Parses URI templates of RFC 6570 in one pass, with limits, because servers write them. Pure. */

import { clip } from "@fairlead/wire/text";

/** The operator of an expression. */
export type Operator = "" | "+" | "#" | "." | "/" | ";" | "?" | "&";

/** One variable of an expression. */
export interface Variable {
  readonly name: string;
  /** Each item of a list is expanded by itself (`*`). */
  readonly explode: boolean;
  /** The most characters of the value (`:n`). */
  readonly prefix?: number;
}

/** An expression in braces. */
export interface Expression {
  readonly kind: "expression";
  readonly operator: Operator;
  readonly variables: readonly Variable[];
}

/** A part of a template. */
export type TemplatePiece = { readonly kind: "literal"; readonly text: string } | Expression;

/** A parsed template, or the reason why it is malformed. */
export type UriTemplate =
  | {
      readonly kind: "template";
      readonly pieces: readonly TemplatePiece[];
      /** The names of the variables, without repeats. */
      readonly variables: readonly string[];
    }
  /** The reason is the end of a sentence that begins with "the template". */
  | { readonly kind: "malformed"; readonly reason: string };

/** In characters. A longer URI is neither expanded nor matched. */
export const longestUri = 65_536;
const longestTemplate = 8192;
const mostVariables = 128;

const operators: ReadonlyMap<string, Operator> = new Map(
  (["+", "#", ".", "/", ";", "?", "&"] as const).map((operator) => [operator, operator]),
);
/** Reserved by the RFC for future operators. */
const reserved = "=,!@|$";
/** The RFC has no hyphens in names; many servers use them, and they have no other meaning. */
const variableName = /^(?:\w|%[0-9A-Fa-f]{2})(?:[\w.-]|%[0-9A-Fa-f]{2})*$/;
const prefixLength = /^[1-9]\d{0,3}$/;

/** Parses a template. */
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

/** Returns the expression, or the reason why it is malformed. */
function parseExpression(inside: string): Expression | string {
  const first = inside.charAt(0);
  if (first !== "" && reserved.includes(first)) return `uses "${first}", a reserved operator, in {${clip(inside, 60)}}`;
  const operator = operators.get(first) ?? "";
  const variables: Variable[] = [];
  for (const spec of inside.slice(operator.length).split(",", mostVariables + 1)) {
    const variable = parseVariable(spec);
    if (variable === undefined) return `has a variable that cannot be read in {${clip(inside, 60)}}`;
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
