/** Finds the tool that a model's API refuses without naming it, with few and cheap requests. */

import type { Model } from "../model/model.ts";
import type { Content, FunctionDeclaration } from "../normalise/model-types.ts";
import { streamUntilAborted } from "./until-aborted.ts";

export type Culprit =
  /** The API refuses the declaration with this index. */
  | { readonly kind: "declaration"; readonly index: number }
  /** The API refuses all declarations together, but accepts the first `passing`. */
  | { readonly kind: "too_many"; readonly passing: number }
  /** The refusal is not about the declarations. */
  | { readonly kind: "none" };

/** Whether the API accepts these declarations. */
export type Probe = (declarations: readonly FunctionDeclaration[]) => Promise<boolean>;

/**
 * Bisects the declarations: if one half is accepted, the cause is in the other. Takes log2(suspects) requests, and one
 * more if no half was refused, to make sure that the refusal is about declarations at all.
 *
 * @param isProven Whether a declaration was accepted before: it is no suspect.
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

/** Creates a probe: a tiny request that is cancelled at the first sign of an answer. The answer is not used. */
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
