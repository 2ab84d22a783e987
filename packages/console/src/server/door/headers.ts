/** The HTTP headers of all answers. */

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

/** The headers of every answer, also of a refusal. The browser keeps the page apart from all others. */
export function pageHeaders(frames?: string): Readonly<Record<string, string>> {
  return {
    "content-security-policy": contentSecurityPolicy(frames),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
  };
}

/** An asset has its digest in its name, so a browser need not ask for it again. */
export const assetCaching: Readonly<Record<string, string>> = {
  "cache-control": "private, max-age=31536000, immutable",
};
