/** The sign-in questions and messages on a terminal. */

import type { SignInUi } from "@fairlead/core/auth/browser/sign-in-ui";
import { openUrl } from "@fairlead/core/net/open-url";
import { joinSafe, type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { ProgramPlace } from "@fairlead/core/trust/programs";
import type { Io } from "../shell/io.ts";
import { askLine, askLineOrEnd, confirm } from "../shell/prompt.ts";
import type { Context } from "../shell/verb.ts";
import { byHandLines, messageLines } from "./message-lines.ts";
import { userLocation } from "./user-location.ts";

export interface TerminalSignInOptions {
  /** False with `--no-browser`. */
  readonly browser: boolean;
  readonly device: boolean;
  readonly scopes?: readonly string[];
  /** Sign in although a token is stored. */
  readonly again: boolean;
  /** Where the program that opens the browser is searched for. */
  readonly place: ProgramPlace;
  readonly onMessage: NonNullable<SignInUi["show"]>;
}

export function terminalSignIn({ io, out }: Pick<Context, "io" | "out">, options: TerminalSignInOptions): SignInUi {
  const { device, scopes, again, onMessage } = options;
  const place = userLocation(io);
  const browserFirst = options.browser && place === "desk";
  let byHand = joinSafe([]);

  return {
    show(message) {
      out.exactly(joinSafe(messageLines(message, { place, browserFirst })));
      if (message.kind === "address") byHand = joinSafe(byHandLines(message, place));
      onMessage(message);
    },
    async consent(_request, signal) {
      if (await confirm(until(io, signal), safe`Open it in your browser?`)) return true;
      out.exactly(byHand);
      return undefined;
    },
    openBrowser: (url) => openUrl(url, options.place),
    paste: (signal) => askMeanwhile(io, safe`address from the browser: `, signal),
    async askClientId({ issuer, redirectUri, why }, signal) {
      out.exactly(safe`No client ID: ${toVisibleLine(why)}.`);
      out.exactly(safe`Register a client at ${toVisibleLine(issuer)} with the redirect URI`);
      out.exactly(safe`${toVisibleLine(redirectUri)}, then enter its client ID.`);
      return askLine(until(io, signal), safe`client ID (Enter: none): `);
    },
    async chooseIssuer(issuers, signal) {
      out.exactly(safe`The server names several authorization servers:`);
      for (const [at, issuer] of issuers.entries()) out.exactly(safe`  ${at + 1}: ${toVisibleLine(issuer)}`);
      const answer = await askLine(until(io, signal), safe`Sign in at which one? [1] `);
      return issuers[Number(answer.trim() || "1") - 1] ?? "";
    },
    device,
    browserFirst,
    again,
    ...(scopes !== undefined && { scopes }),
  };
}

function until(io: Io, signal: AbortSignal): Io {
  return { ...io, signal: AbortSignal.any([io.signal, signal]) };
}

/** Asks for a line; if the question is cancelled or gets no answer, the next output starts on a new line. */
async function askMeanwhile(io: Io, question: SafeText, signal: AbortSignal): Promise<string | undefined> {
  try {
    const answer = await askLineOrEnd(until(io, signal), question);
    if (answer === undefined) io.stderr.write("\n");
    return answer;
  } catch (error) {
    io.stderr.write("\n");
    throw error;
  }
}
