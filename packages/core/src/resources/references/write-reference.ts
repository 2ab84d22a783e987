/** A resource or a file as a person would type it, so that it is found again. Pure. */

/** What can stand behind an `@` without quotes, up to its last character. */
const plain = /^[\w./~%-](?:[\w./~%:?=&#+@!$*-]*[\w/=&#%~+-])?$/;

export function writeReference(server: string, uri: string): string {
  return writeMention(uri.startsWith(`${server}://`) ? uri : `${server}:${uri}`);
}

export function writeMention(target: string): string {
  return plain.test(target) ? `@${target}` : `@"${target.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
