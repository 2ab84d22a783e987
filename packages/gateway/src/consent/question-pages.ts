/**
 * What the gateway needs of web pages on which a person answers a confirmation. The program that contains the gateway
 * provides them: the page is the console's page for one question.
 */

import type { ConsentAnswer, ConsentQuestion } from "./confirmed-request.ts";
import type { GivenAnswer } from "./inbox-folder.ts";

/** A confirmation, and what to do with the person's answer. */
export interface PageQuestion {
  readonly question: ConsentQuestion;
  /** Identifies the client's connection, as `GatewayClient.conversation` does. */
  readonly conversation: string;
  /** Aborted when no request waits for the answer any more. */
  readonly awaited: AbortSignal;
  /** Resolves with the answer that counts, wherever it was given. Never, if no answer comes. */
  readonly answered: Promise<GivenAnswer>;
  /**
   * Stores the answer.
   * @param because Why the person says no.
   */
  readonly answer: (answer: ConsentAnswer, because?: string) => Promise<PageOutcome>;
}

/** What became of an answer. */
export interface PageOutcome {
  /** `expired`: there was nothing to answer any more. */
  readonly outcome: "first" | "late" | "expired";
  /** The sentence that the person then reads. */
  readonly text: string;
}

export interface OpenPage {
  /**
   * The page's address. It shows the question once: the first window that opens it exchanges the code in the fragment
   * for a session, and only this window can see and answer the question.
   */
  readonly url: string;
  /** Whether a window has got the question. */
  readonly isVisited: () => boolean;
  /** Removes the page. */
  readonly close: () => void;
}

/** Serves one page for each open confirmation. Dispose it to remove all of them. */
export interface QuestionPages extends AsyncDisposable {
  /**
   * Opens a page.
   * @throws Error if there are too many pages for which requests of the same connection wait
   */
  open(shown: PageQuestion): Promise<OpenPage>;
}
