/** HTML of the pages for sign-ins. Every text in it is escaped and cannot hide or reorder what stands beside it. */

import { hash } from "node:crypto";
import { toVisibleLine } from "@fairlead/core/text/safe-text";
import { clip } from "@fairlead/wire/text";

/** HTML whose texts are escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What can stand in a template: HTML as it is, texts escaped, lists joined. */
type Part = Html | string | number | readonly Html[] | undefined;

/** Longest text of a server, an issuer or a client, in characters. */
const longestText = 500;

/** Joins HTML with parts. Texts from anywhere are escaped, and attributes must stand in quotation marks. */
export function html(words: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(words.reduce((text, word, index) => `${text}${toHtml(parts[index - 1])}${word}`));
}

function toHtml(part: Part): string {
  if (part === undefined) return "";
  if (part instanceof Html) return part.text;
  if (typeof part === "string" || typeof part === "number") return escaped(String(part));
  return part.map(({ text }) => text).join("");
}

/** An address in an attribute. It is not shortened. */
export function attribute(text: string): Html {
  return new Html(text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`));
}

function escaped(text: string): string {
  return attribute(toVisibleLine(clip(text, longestText))).text;
}

/** The look of the console's page, as far as these pages need it. */
const css = `
:root { color-scheme: light dark; --ground: light-dark(#fcfcfd, #111318); --surface: light-dark(#ffffff, #16191f);
  --edge: light-dark(#e4e7ec, #262b35); --edge-control: light-dark(#868e9c, #667080); --ink: light-dark(#15181e, #e7eaef);
  --ink-2: light-dark(#4b5361, #a8b0bd); --accent: light-dark(#3452cc, #93a8ff); --accent-ground: light-dark(#3452cc, #3d57c4);
  --ok: light-dark(#0e6b3a, #56c98d); --warn: light-dark(#855200, #e6b455); --bad: light-dark(#b3251b, #ff8f82); }
* { box-sizing: border-box; }
html { background: var(--ground); color: var(--ink); font: 14px/22px system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif; }
body { margin: 0 auto; padding: 32px 16px; max-width: 640px; overflow-wrap: anywhere; }
main { background: var(--surface); border: 1px solid var(--edge); border-radius: 6px; padding: 24px; }
h1 { margin: 0 0 12px; font-size: 18px; line-height: 26px; } h2 { margin: 24px 0 8px; font-size: 14px; }
p { margin: 0 0 12px; } header { margin: 0 0 12px; color: var(--ink-2); } a { color: var(--accent); }
dl { margin: 0 0 16px; } dt { color: var(--ink-2); } dd { margin: 0 0 8px; } ul { margin: 0; padding: 0; list-style: none; }
li.server { padding: 12px 0; border-top: 1px solid var(--edge); } li.server p { margin: 0 0 8px; } .quiet { color: var(--ink-2); }
.ok { color: var(--ok); } .warn { color: var(--warn); } .bad { color: var(--bad); }
form { display: inline; } .buttons { display: flex; flex-wrap: wrap; gap: 12px; align-items: center; margin: 16px 0 0; }
button, a.button { display: inline-block; font: inherit; font-weight: 600; padding: 6px 14px; min-height: 36px; border-radius: 6px;
  border: 1px solid var(--edge-control); background: transparent; color: var(--ink); text-decoration: none; cursor: pointer; }
button.primary, a.primary { background: var(--accent-ground); border-color: var(--accent-ground); color: #ffffff; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
@media (forced-colors: active) { button, a.button { border: 1px solid; } }
`;

/**
 * The headers of every page. No script runs, no other site can frame the page, and forms are sent only to the gateway.
 * With `same-origin`, browsers send the header `Origin` with forms, but no address of a page to an issuer.
 */
export const pageHeaders: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": [
    "default-src 'none'",
    `style-src 'sha256-${hash("sha256", css, "base64")}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "browsing-topics=(), interest-cohort=()",
};

/** A whole page. */
export function page(
  title: string,
  content: Html,
  { user, refresh }: { user?: string; refresh?: string } = {},
): string {
  const head =
    refresh === undefined ? undefined : html`<meta http-equiv="refresh" content="0; url=${attribute(refresh)}">`;
  const who = user === undefined ? undefined : html` · logged in as ${user}`;
  return `<!doctype html>${
    html`<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
${head}<title>${title} – Fairlead</title><style>${new Html(css)}</style></head>
<body><header>Fairlead${who}</header><main>${content}</main></body></html>`.text
  }`;
}
