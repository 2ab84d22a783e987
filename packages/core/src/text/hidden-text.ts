/** Replaces secrets in messages by `(hidden)`, and compares such messages with the original texts. */

/** Messages contain this text in place of a secret, or of anything that looks like a secret. */
export const hidden = "(hidden)";

/** Whether `text` can be made from `shown` by replacing every `(hidden)` with some text. */
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

/** Replaces each of the secrets in a text by `(hidden)`. */
export function withoutSecrets(text: string, secrets: readonly (string | undefined)[]): string {
  return secrets.reduce<string>((shown, secret) => (secret ? shown.replaceAll(secret, hidden) : shown), text);
}
