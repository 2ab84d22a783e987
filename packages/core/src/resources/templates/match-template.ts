/** Matches URIs with templates. Pure; the time is linear in the lengths of both, for any template. */

import { encodeUri } from "./percent-encoding.ts";
import { type Expression, longestUri, type Operator, parseTemplate, type TemplatePiece } from "./uri-template.ts";

/**
 * For each position in the URI: whether the pieces so far can end there. All positions are tracked at once, without
 * backtracking.
 */
type Places = Uint8Array<ArrayBuffer>;

/**
 * Whether the template could produce the URI. Wider than RFC 6570, as servers are: a simple variable matches any text
 * within one segment, encoded or not, and an exploded one matches whole paths. The result only tells which server to
 * ask.
 */
export function matchesTemplate(uri: string, template: string): boolean {
  const parsed = parseTemplate(template);
  if (parsed.kind === "malformed" || uri.length > longestUri) return false;
  const text = encodeUri(uri);
  let places: Places = new Uint8Array(text.length + 1);
  places[0] = 1;
  for (const piece of parsed.pieces) places = step(piece, text, places);
  return places[text.length] === 1;
}

function step(piece: TemplatePiece, text: string, from: Places): Places {
  if (piece.kind === "expression") return run(piece, text, from);
  const to: Places = new Uint8Array(from.length);
  const literal = encodeUri(piece.text);
  for (let at = 0; at < from.length; at += 1)
    if (from[at] === 1 && text.startsWith(literal, at)) to[at + literal.length] = 1;
  return to;
}

interface Shape {
  /** The first character of a non-empty expansion. */
  readonly start: string;
  /** Characters that no value contains. */
  readonly ends: string;
  /** Set if values have names: the separator between two, and the text after each name. */
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

/** From each reachable position: the expansion is empty, or it continues as long as its characters are allowed. */
function run({ operator, variables }: Expression, text: string, from: Places): Places {
  const to = from.slice();
  const { start, ends, named } = shapes[operator];
  const takesPaths = variables.some(({ explode }) => explode) || (operator === "/" && variables.length > 1);
  const isEnd = (character: string): boolean => ends.includes(character) && !(takesPaths && character === "/");
  // An exploded variable uses the names of its values.
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
