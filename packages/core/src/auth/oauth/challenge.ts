/** Reads the Bearer challenge in the header `WWW-Authenticate` (RFC 6750, RFC 9728). */

/** Parameters of a Bearer challenge. */
export interface BearerChallenge {
  readonly resourceMetadata?: string;
  readonly scope?: string;
  readonly error?: string;
  readonly errorDescription?: string;
}

/** A scheme, or a parameter with its value, quoted or not. */
const part = /[\s,]*([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+)))?/gy;

/** Reads the first Bearer challenge of the header, and the first value of each parameter. */
export function readChallenge(header: string | undefined): BearerChallenge {
  const parameters = new Map<string, string>();
  let scheme = "";
  for (const [, name = "", quoted, bare] of (header ?? "").matchAll(part)) {
    const value = quoted?.replaceAll(/\\(.)/g, "$1") ?? bare;
    if (value === undefined) {
      if (scheme === "bearer") break;
      scheme = name.toLowerCase();
    } else if (scheme === "bearer" && value !== "" && !parameters.has(name.toLowerCase())) {
      parameters.set(name.toLowerCase(), value);
    }
  }
  return Object.fromEntries(
    names.flatMap(([key, name]) => (parameters.has(name) ? [[key, parameters.get(name)]] : [])),
  );
}

const names: readonly (readonly [keyof BearerChallenge, string])[] = [
  ["resourceMetadata", "resource_metadata"],
  ["scope", "scope"],
  ["error", "error"],
  ["errorDescription", "error_description"],
];
