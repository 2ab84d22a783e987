/** The page that the browser shows after the redirect. It loads nothing and repeats nothing of the address. */

import type { ServerResponse } from "node:http";

const headers = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
  connection: "close",
};

/** Sends `words`, which must be plain text of ours, as a page. */
export function sendPage(response: ServerResponse, status: number, words: string): void {
  const title = "Fairlead";
  response.writeHead(status, headers);
  response.end(
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${words}</p></html>\n`,
  );
}
