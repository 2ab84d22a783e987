/** Pages without a listener: a test visits their addresses and answers. */

import { randomUUID } from "node:crypto";
import type { ConsentAnswer, ConsentQuestion } from "../../src/consent/confirmed-request.ts";
import type { PageOutcome, PageQuestion, QuestionPages } from "../../src/consent/question-pages.ts";

/** The first window that has opened an address. */
export interface Visitor {
  readonly question: ConsentQuestion;
  readonly answer: (answer: ConsentAnswer, because?: string) => Promise<PageOutcome>;
}

export interface ScriptedPages extends QuestionPages {
  /** @throws Error if there is no such page any more, or if it was visited before */
  visit(url: unknown): Visitor;
  /** The addresses of all pages so far. */
  readonly urls: readonly string[];
}

export function scriptedPages(): ScriptedPages {
  const pages = new Map<string, { readonly shown: PageQuestion; isVisited: boolean }>();
  const urls: string[] = [];
  return {
    urls,
    async open(shown) {
      const url = `http://127.0.0.1:1/question/${randomUUID()}#k=code`;
      const page = { shown, isVisited: false };
      pages.set(url, page);
      urls.push(url);
      return { url, isVisited: () => page.isVisited, close: () => pages.delete(url) };
    },
    visit(url) {
      const page = pages.get(String(url));
      if (page === undefined || page.isVisited) throw new Error(`no page at ${String(url)}`);
      page.isVisited = true;
      const { question, answer } = page.shown;
      return { question, answer };
    },
    async [Symbol.asyncDispose]() {
      pages.clear();
    },
  };
}
