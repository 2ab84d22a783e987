/** Finds the tool that a model's API refuses, if the error does not name it. Sends few and small requests. */

import type { Model } from "../model/model.ts";
import type { Content, FunctionDeclaration } from "../normalise/model-types.ts";
import { streamUntilAborted } from "./until-aborted.ts";

/** Why the API refused a request with tool declarations. */
export type Culprit =
  /** The API refuses the declaration with this index. */
  | { readonly kind: "declaration"; readonly index: number }
  /** The API accepts the first `passing` declarations, but refuses all declarations together. */
  | { readonly kind: "too_many"; readonly passing: number }
  /** The declarations are not the reason for the refusal. */
  | { readonly kind: "none" };

/** Sends a small request with these declarations. Resolves with true if the API accepts them. */
export type Probe = (declarations: readonly FunctionDeclaration[]) => Promise<boolean>;

/**
 * Finds the declaration that the API refuses, by bisection: for n declarations, this takes about log2(n) requests.
 *
 * @param isProven Whether the API accepted this declaration before, so that it cannot be the cause.
 */
export async function findCulprit(
  declarations: readonly FunctionDeclaration[],
  probe: Probe,
  isProven: (declaration: FunctionDeclaration) => boolean = () => false,
): Promise<Culprit> {
  const allIndexes = declarations.map((_, index) => index);
  let suspects = allIndexes.filter((index) => declarations.slice(index, index + 1).every((each) => !isProven(each)));
  if (suspects.length === 0) suspects = allIndexes;
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

/** Creates a probe for a model. Cancels the probe's request as soon as the answer begins. */
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
