/** Addresses that can be spoken to over HTTP. */

/** The address if it is one; what is wrong with another is not shown: it may hold a password. */
export function webAddress(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === "http:" || url?.protocol === "https:" ? url : undefined;
}
