/** Writes a resource or a file as an `@` reference that resolves to it again. Pure. */

/** Targets that need no quotes. */
const plain = /^[\w./~%-](?:[\w./~%:?=&#+@!$*-]*[\w/=&#%~+-])?$/;

/** Writes a reference to a resource. */
export function writeReference(server: string, uri: string): string {
  return writeMention(uri.startsWith(`${server}://`) ? uri : `${server}:${uri}`);
}

/** Writes a reference to any target, with quotes if needed. */
export function writeMention(target: string): string {
  return plain.test(target) ? `@${target}` : `@"${target.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
