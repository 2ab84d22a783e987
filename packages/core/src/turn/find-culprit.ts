/** Which tool a model's API refuses, where it does not say: found with few and cheap requests. */

import type { Model } from "../model/model.ts";
import type { Content, FunctionDeclaration } from "../normalise/model-types.ts";
import { streamUntilAborted } from "./until-aborted.ts";

export type Culprit =
  /** This one, by its place among those that were given. */
  | { readonly kind: "declaration"; readonly index: number }
  /** All of them are too much; the first so many pass. */
  | { readonly kind: "too_many"; readonly passing: number }
  /** It is not about the declarations. */
  | { readonly kind: "none" };

/** Whether the API takes these. */
export type Probe = (declarations: readonly FunctionDeclaration[]) => Promise<boolean>;

/**
 * Halves what was refused: if one half passes, it is the other. As many requests as the number of suspects can be halved, and one
 * more if none of them was refused: then it must be made sure that it is about the declarations at all.
 *
 * @param isProven Of a declaration that has passed before: it is no suspect.
 */
export async function findCulprit(
  declarations: readonly FunctionDeclaration[],
  probe: Probe,
  isProven: (declaration: FunctionDeclaration) => boolean = () => false,
): Promise<Culprit> {
  const places = declarations.map((_, index) => index);
  let suspects = places.filter((index) => declarations.slice(index, index + 1).every((each) => !isProven(each)));
  if (suspects.length === 0) suspects = places;
  const at = (indexes: readonly number[]): FunctionDeclaration[] =>
    indexes.flatMap((index) => declarations[index] ?? []);
  let wasRefused = false;
  let passing = 0;
  while (suspects.length > 1) {
    const half = suspects.slice(0, Math.ceil(suspects.length / 2));
    if (await probe(at(half))) {
      if (passing === 0) passing = (half.at(-1) ?? 0) + 1;
      suspects = suspects.slice(half.length);
    } else {
      wasRefused = true;
      suspects = half;
    }
  }
  const [index] = suspects;
  if (index === undefined) return { kind: "none" };
  if (wasRefused || !(await probe(at([index])))) return { kind: "declaration", index };
  if (await probe(declarations)) return { kind: "none" };
  return { kind: "too_many", passing: Math.min(Math.max(passing, 1), declarations.length - 1) };
}

const question: readonly Content[] = [{ role: "user", parts: [{ text: "." }] }];

/** Asks for next to nothing, and hangs up at the first sign of an answer: nothing that the model says here is used. */
export function createProbe(model: Model, signal: AbortSignal): Probe {
  return async (declarations) => {
    const stop = new AbortController();
    const hangUp = (): void => stop.abort();
    signal.addEventListener("abort", hangUp, { once: true });
    try {
      for await (const event of streamUntilAborted(model.stream(question, declarations, stop.signal), signal)) {
        if (event.type !== "retry") return event.type !== "rejected";
      }
      return true;
    } finally {
      signal.removeEventListener("abort", hangUp);
      hangUp();
    }
  };
}
