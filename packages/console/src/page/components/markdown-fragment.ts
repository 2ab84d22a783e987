/** Markdown as a fragment of harmless elements. */

import DOMPurify from "dompurify";
import { marked } from "marked";

const tags = "h1 h2 h3 h4 h5 h6 p br hr blockquote ul ol li pre code em strong del a table thead tbody tr th td".split(
  " ",
);

/** The text is already visible text: no control characters are left in it. */
export function markdownFragment(text: string): DocumentFragment {
  const fragment = DOMPurify.sanitize(marked.parse(text, { async: false, gfm: true }), {
    ALLOWED_TAGS: tags,
    ALLOWED_ATTR: ["href"],
    ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
  for (const link of fragment.querySelectorAll("a")) {
    const { href } = link;
    link.target = "_blank";
    link.rel = "noopener noreferrer";
    link.title = href;
    // The person sees where a link leads before following it.
    if (link.textContent !== href) link.after(` (${hostOf(href)})`);
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

function hostOf(href: string): string {
  return URL.canParse(href) ? new URL(href).host || href : "no address";
}
