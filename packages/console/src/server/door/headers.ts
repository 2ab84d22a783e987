/** The HTTP headers of all answers. */

/** Headers of everything: the browser keeps it apart from pages of other sites. */
const common: Readonly<Record<string, string>> = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cache-control": "no-store",
};

/** The headers of a refusal in plain words, for a person who has opened a wrong address. */
export const refusalHeaders: Readonly<Record<string, string>> = {
  ...common,
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
  "content-type": "text/plain; charset=utf-8",
};

/** The headers of JSON and events. They contain texts of servers, so a browser that is led to them must show no document. */
export const answerHeaders: Readonly<Record<string, string>> = {
  ...refusalHeaders,
  "content-disposition": "attachment",
  "content-type": "application/json; charset=utf-8",
};

/** The content security policy of the page. `frames`: the origin of views (MCP Apps), if they can be shown. */
function contentSecurityPolicy(frames: string | undefined): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob:",
    "media-src blob:",
    "connect-src 'self'",
    "font-src 'self'",
    ...(frames === undefined ? [] : [`frame-src ${frames}`]),
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types dompurify",
  ].join("; ");
}

/** The headers of the document and its assets. */
export function pageHeaders(frames?: string): Readonly<Record<string, string>> {
  return { ...common, "content-security-policy": contentSecurityPolicy(frames) };
}

/** An asset has its digest in its name, so a browser need not ask for it again. */
export const assetCaching: Readonly<Record<string, string>> = {
  "cache-control": "private, max-age=31536000, immutable",
};
