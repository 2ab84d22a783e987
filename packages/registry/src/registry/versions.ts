/** Compares versions of a server, and finds the newest. */

import type { RegistryServer } from "./server-json.ts";

/** The newest version: the one that the registry calls so, else by the version number, else by the date. */
export function newestOf(servers: readonly RegistryServer[]): RegistryServer | undefined {
  return servers.find(({ isLatest }) => isLatest) ?? [...servers].sort(byAge).at(-1);
}

function byAge(a: RegistryServer, b: RegistryServer): number {
  return compareVersions(a.version, b.version) ?? timeOf(a) - timeOf(b);
}

function timeOf({ publishedAt }: RegistryServer): number {
  return publishedAt === undefined ? 0 : Date.parse(publishedAt);
}

/** Compares two versions by the rules of Semantic Versioning. Undefined if one of them does not follow these rules. */
export function compareVersions(a: string, b: string): number | undefined {
  const [left, right] = [parsed(a), parsed(b)];
  if (left === undefined || right === undefined) return undefined;
  return compareLists(left.numbers, right.numbers) || comparePrereleases(left.prerelease, right.prerelease);
}

interface Parsed {
  readonly numbers: readonly number[];
  readonly prerelease: readonly string[];
}

function parsed(version: string): Parsed | undefined {
  const found = /^v?(\d+)\.(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([\w.-]+))?(?:\+[\w.-]+)?$/.exec(version);
  if (found === null) return undefined;
  const [, major = "0", minor = "0", patch = "0", fourth = "0", prerelease] = found;
  return { numbers: [major, minor, patch, fourth].map(Number), prerelease: prerelease?.split(".") ?? [] };
}

function compareLists(a: readonly number[], b: readonly number[]): number {
  return a.map((number, at) => number - (b[at] ?? 0)).find((difference) => difference !== 0) ?? 0;
}

/** A version without a prerelease part is newer. Numbers come before words. */
function comparePrereleases(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return Number(a.length === 0) - Number(b.length === 0);
  for (const [at, left] of a.entries()) {
    const right = b[at];
    if (right === undefined) return 1;
    if (left === right) continue;
    const [isLeft, isRight] = [/^\d+$/.test(left), /^\d+$/.test(right)];
    if (isLeft && isRight) return Number(left) - Number(right);
    if (isLeft !== isRight) return isLeft ? -1 : 1;
    return left < right ? -1 : 1;
  }
  return a.length - b.length;
}
