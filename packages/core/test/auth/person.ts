/** A person in front of a terminal, for one test: sees what is shown, and has a browser. */

import { type BrowserChoices, type BrowserOutcome, browser } from "@fairlead/test-servers";
import type { SignInMessage, SignInUi } from "../../src/auth/browser/sign-in-ui.ts";

export interface Person {
  readonly ui: SignInUi;
  /** What was shown so far. */
  readonly shown: readonly SignInMessage[];
  /** The addresses that the browser opened so far. */
  readonly opened: readonly string[];
  /** What the browser showed at the end of each visit. */
  readonly visits: () => Promise<readonly BrowserOutcome[]>;
}

export interface PersonChoices extends BrowserChoices {
  readonly ui?: Partial<SignInUi>;
  /** Told before the browser goes anywhere. */
  readonly onOpen?: (url: string) => void;
}

export function person({ ui = {}, onOpen, ...choices }: PersonChoices = {}): Person {
  const shown: SignInMessage[] = [];
  const opened: string[] = [];
  const visits: Promise<BrowserOutcome>[] = [];
  return {
    shown,
    opened,
    visits: () => Promise.all(visits),
    ui: {
      browserFirst: true,
      consent: async () => true,
      show: (message) => void shown.push(message),
      async openBrowser(url) {
        onOpen?.(url);
        opened.push(url);
        visits.push(browser(url, choices));
        return true;
      },
      ...ui,
    },
  };
}

/** A parameter of the address that the browser opened last. */
export function asked({ opened }: Person, name: string): string | null {
  return new URL(opened.at(-1) ?? "").searchParams.get(name);
}
