/** The way back without a listener: the person pastes the address at which the browser ended. */

import { parseUrl } from "@fairlead/wire/text";
import { isState } from "../oauth/authorization.ts";

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

/** `over`: nothing more is to be had from there, and why. */
export type PasteOutcome = Extract<Pasted, { kind: "answer" }> | { readonly kind: "over"; readonly reason: string };

/** Nobody pastes so often; a program that answers at once would go on for ever. */
const mostTries = 100;
const longestPaste = 32_768;

/** Asks until something usable comes. */
export async function askForPaste(options: PasteOptions): Promise<PasteOutcome> {
  const { paste, onUnusable, signal } = options;
  for (let tries = 0; tries < mostTries && !signal.aborted; tries += 1) {
    const text = (await paste(signal))?.trim();
    if (text === undefined) return { kind: "over", reason: "the input has ended" };
    const pasted = text === "" ? nothing(options) : readPasted(text, options);
    if (pasted.kind === "answer") return pasted;
    onUnusable(pasted.reason);
  }
  return { kind: "over", reason: `nothing usable came in ${mostTries} tries` };
}

function nothing({ redirectUri }: PasteOptions): Extract<Pasted, { kind: "unusable" }> {
  return { kind: "unusable", reason: `there is nothing to read; the address begins with ${redirectUri}` };
}

/** The whole address, or what follows its question mark: a code alone could be anybody's. */
export function readPasted(text: string, { state, redirectUri }: Pick<PasteOptions, "state" | "redirectUri">): Pasted {
  if (text.length > longestPaste) return { kind: "unusable", reason: "that is too long for an address" };
  const answer = parametersIn(text, redirectUri);
  if (answer === undefined)
    return {
      kind: "unusable",
      reason: `that is not the address at which the browser ended; it begins with ${redirectUri}`,
    };
  if (!isState(answer.get("state"), state))
    return { kind: "unusable", reason: "that address belongs to another sign-in" };
  return { kind: "answer", answer };
}

function parametersIn(text: string, redirectUri: string): URLSearchParams | undefined {
  const expected = new URL(redirectUri);
  if (parseUrl(text) === undefined) return /^\??[\w.~%+-]+=/.test(text) ? new URLSearchParams(text) : undefined;
  const { origin, pathname, searchParams } = new URL(text);
  return origin === expected.origin && pathname === expected.pathname ? searchParams : undefined;
}
