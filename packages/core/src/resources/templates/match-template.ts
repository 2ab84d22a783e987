/** Whether a template could have given a URI. Pure; its time grows with the length of both, whatever a server wrote. */

import { encodeUri } from "./percent-encoding.ts";
import { type Expression, longestUri, type Operator, parseTemplate, type TemplatePiece } from "./uri-template.ts";

/** For each place in the URI whether it can be reached: all at once, instead of one after the other and back again. */
type Places = Uint8Array<ArrayBuffer>;

/**
 * As servers see it, which is a little wider than the RFC: a plain variable takes whatever stays within one segment, encoded or
 * not, and with a star whole paths. It is for telling whose a URI is; what it leads to is for its server to say.
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
  /** What an expression with any value begins with. */
  readonly start: string;
  /** What no value holds. */
  readonly ends: string;
  /** Values have names: what stands between two, and what always follows a name. */
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

/** From each place: nothing, or a beginning and then as far as its characters go. */
function run({ operator, variables }: Expression, text: string, from: Places): Places {
  const to = from.slice();
  const { start, ends, named } = shapes[operator];
  const takesPaths = variables.some(({ explode }) => explode) || (operator === "/" && variables.length > 1);
  const isEnd = (character: string): boolean => ends.includes(character) && !(takesPaths && character === "/");
  // With a star, the names are those of the values.
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
