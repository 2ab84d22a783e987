/** The word that replaces a secret, and functions for texts that contain it. */

/** The text that replaces a secret, or a text that looks like one. */
export const hidden = "(hidden)";

/** Whether `text` equals `shown` with every `(hidden)` replaced by any text. */
export function fitsText(shown: string, text: string): boolean {
  const [first = "", ...rest] = shown.split(hidden);
  if (rest.length === 0) return shown === text;
  const last = rest.pop() ?? "";
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}

/** Replaces each of these secrets in the text by `(hidden)`, for a text that may quote a request. */
export function withoutSecrets(text: string, secrets: readonly (string | undefined)[]): string {
  return secrets.reduce<string>((shown, secret) => (secret ? shown.replaceAll(secret, hidden) : shown), text);
}
