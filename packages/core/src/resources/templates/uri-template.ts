/** Reads URI templates as RFC 6570 has them, from servers that may write anything: in one pass, and not without end. Pure. */

import { clip } from "@fairlead/wire/text";

export type Operator = "" | "+" | "#" | "." | "/" | ";" | "?" | "&";

export interface Variable {
  readonly name: string;
  /** Each member of a list is a value of its own. */
  readonly explode: boolean;
  /** At most so many characters of the value. */
  readonly prefix?: number;
}

export interface Expression {
  readonly kind: "expression";
  readonly operator: Operator;
  readonly variables: readonly Variable[];
}

export type TemplatePiece = { readonly kind: "literal"; readonly text: string } | Expression;

export type UriTemplate =
  | {
      readonly kind: "template";
      readonly pieces: readonly TemplatePiece[];
      /** The names of its variables, each once. */
      readonly variables: readonly string[];
    }
  /** The reason completes "the template …". */
  | { readonly kind: "malformed"; readonly reason: string };

/** In characters; over it, a URI is not made and not looked at. */
export const longestUri = 65_536;
const longestTemplate = 8192;
const mostVariables = 128;

const operators: ReadonlyMap<string, Operator> = new Map(
  (["+", "#", ".", "/", ";", "?", "&"] as const).map((operator) => [operator, operator]),
);
/** Kept by the RFC for later. */
const reserved = "=,!@|$";
/** The RFC has no hyphens in names; many servers do, and they can mean nothing else. */
const variableName = /^(?:\w|%[0-9A-Fa-f]{2})(?:[\w.-]|%[0-9A-Fa-f]{2})*$/;
const prefixLength = /^[1-9]\d{0,3}$/;

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

/** A text is the reason why it is none. */
function parseExpression(inside: string): Expression | string {
  const first = inside.charAt(0);
  if (first !== "" && reserved.includes(first))
    return `uses "${first}", which means nothing yet, in {${clip(inside, 60)}}`;
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
