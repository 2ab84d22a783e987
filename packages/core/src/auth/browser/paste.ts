/** Reads the redirect address that the person pastes when the browser cannot reach the listener. */

import { parseUrl } from "@fairlead/wire/text";
import { isState } from "../oauth/authorization.ts";

/** Options of `askForPaste`. */
export interface PasteOptions {
  readonly paste: (signal: AbortSignal) => Promise<string | undefined>;
  readonly state: string;
  readonly redirectUri: string;
  readonly onUnusable: (reason: string) => void;
  readonly signal: AbortSignal;
}

type Pasted =
  | { readonly kind: "answer"; readonly answer: URLSearchParams }
  | { readonly kind: "unusable"; readonly reason: string };

/** `over`: no more input can come, and why. */
export type PasteOutcome = Extract<Pasted, { kind: "answer" }> | { readonly kind: "over"; readonly reason: string };

/** Ends the loop if a program answers every question at once with useless text. */
const mostTries = 100;
const longestPaste = 32_768;

/** Asks until the person pastes a usable address. */
export async function askForPaste(options: PasteOptions): Promise<PasteOutcome> {
  const { paste, onUnusable, signal } = options;
  for (let tries = 0; tries < mostTries && !signal.aborted; tries += 1) {
    const text = (await paste(signal))?.trim();
    if (text === undefined) return { kind: "over", reason: "the input ended" };
    const pasted = text === "" ? emptyInput(options) : readPasted(text, options);
    if (pasted.kind === "answer") return pasted;
    onUnusable(pasted.reason);
  }
  return { kind: "over", reason: `no usable address in ${mostTries} tries` };
}

function emptyInput({ redirectUri }: PasteOptions): Extract<Pasted, { kind: "unusable" }> {
  return { kind: "unusable", reason: `the input is empty; the address begins with ${redirectUri}` };
}

/** Reads a whole address or its query. A code alone is refused, because without `state` it may belong to another sign-in. */
export function readPasted(text: string, { state, redirectUri }: Pick<PasteOptions, "state" | "redirectUri">): Pasted {
  if (text.length > longestPaste) return { kind: "unusable", reason: "the text is too long for an address" };
  const answer = parametersIn(text, redirectUri);
  if (answer === undefined)
    return {
      kind: "unusable",
      reason: `this is not the address of the last browser page, which begins with ${redirectUri}`,
    };
  if (!isState(answer.get("state"), state))
    return { kind: "unusable", reason: "this address belongs to another sign-in" };
  return { kind: "answer", answer };
}

function parametersIn(text: string, redirectUri: string): URLSearchParams | undefined {
  const expected = new URL(redirectUri);
  if (parseUrl(text) === undefined) return /^\??[\w.~%+-]+=/.test(text) ? new URLSearchParams(text) : undefined;
  const { origin, pathname, searchParams } = new URL(text);
  return origin === expected.origin && pathname === expected.pathname ? searchParams : undefined;
}
