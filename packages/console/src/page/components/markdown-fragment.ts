/** Markdown as harmless elements. */

import DOMPurify from "dompurify";
import { marked } from "marked";
import { saysTarget, webAddress } from "./link.tsx";

const tags = "h1 h2 h3 h4 h5 h6 p br hr blockquote ul ol li pre code em strong del a table thead tbody tr th td".split(
  " ",
);

/**
 * Shows a text in an element. When the text grows, only its last blocks are made again: what a person has selected above
 * stays selected.
 */
export class MarkdownBlocks {
  readonly #box: HTMLElement;
  readonly #ask: (target: URL) => void;
  /** The blocks that are shown, as they are written. */
  #shown: readonly string[] = [];

  /** @param ask Called instead of following a link whose words are not the address that it opens. */
  constructor(box: HTMLElement, ask: (target: URL) => void) {
    this.#box = box;
    this.#ask = ask;
  }

  /** @param text Visible text: no control characters are left in it. */
  show(text: string): void {
    const tokens = marked.lexer(text, { gfm: true }).filter(({ type }) => type !== "space");
    const changed = tokens.findIndex(({ raw }, at) => raw !== this.#shown[at]);
    const same = changed === -1 ? tokens.length : changed;
    while (this.#box.children.length > same) this.#box.lastElementChild?.remove();
    for (const token of tokens.slice(same)) {
      const block = document.createElement("div");
      block.append(harmless(marked.parser([token]), this.#ask));
      this.#box.append(block);
    }
    this.#shown = tokens.map(({ raw }) => raw);
  }
}

function harmless(html: string, ask: (target: URL) => void): DocumentFragment {
  const fragment = DOMPurify.sanitize(html, {
    ALLOWED_TAGS: tags,
    ALLOWED_ATTR: ["href"],
    ALLOWED_URI_REGEXP: /^https?:/i,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
  for (const link of fragment.querySelectorAll("a")) {
    const target = webAddress(link.href);
    if (target === undefined) {
      link.removeAttribute("href");
      continue;
    }
    link.target = "_blank";
    link.rel = "noopener noreferrer";
    link.title = target.href;
    if (saysTarget(link.textContent, target)) continue;
    // The person sees where a link leads before following it.
    link.after(` (${target.host})`);
    for (const press of ["click", "auxclick"])
      link.addEventListener(press, (event) => {
        // The right button opens a menu.
        if (event instanceof MouseEvent && event.button === 2) return;
        event.preventDefault();
        ask(target);
      });
  }
  // Headings of a text are no headings of the page.
  for (const heading of fragment.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const line = document.createElement("p");
    line.className = "markdown-heading";
    line.append(...heading.childNodes);
    heading.replaceWith(line);
  }
  return fragment;
}
