/** Reads the Bearer or DPoP challenge in the header `WWW-Authenticate` (RFC 6750, RFC 9449, RFC 9728), and scopes. */

/** The parameters of a Bearer or DPoP challenge. Undefined parameters were not sent. */
export interface BearerChallenge {
  readonly resourceMetadata?: string;
  readonly scope?: string;
  readonly error?: string;
  readonly errorDescription?: string;
  /** True if the server accepts only tokens that are bound to a key (DPoP, RFC 9449). */
  readonly isDpop?: true;
}

/** Matches a scheme (`Bearer`) or a parameter (`scope="read"`). */
const part = /[\s,]*([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+)))?/gy;

/**
 * Reads the first Bearer challenge in the header, otherwise the first DPoP challenge. Of a repeated parameter, the
 * first value counts.
 */
export function readChallenge(header: string | undefined): BearerChallenge {
  const bearer = parametersOf(header ?? "", "bearer");
  const parameters = bearer ?? parametersOf(header ?? "", "dpop");
  if (parameters === undefined) return {};
  return {
    resourceMetadata: parameters.get("resource_metadata"),
    scope: parameters.get("scope"),
    error: parameters.get("error"),
    errorDescription: parameters.get("error_description"),
    isDpop: bearer === undefined ? true : undefined,
  };
}

/** Returns undefined if the header has no challenge of this scheme. */
function parametersOf(header: string, wanted: string): ReadonlyMap<string, string> | undefined {
  const parameters = new Map<string, string>();
  let scheme = "";
  for (const [, name = "", quoted, bare] of header.matchAll(part)) {
    const value = quoted?.replaceAll(/\\(.)/g, "$1") ?? bare;
    if (value === undefined) {
      if (scheme === wanted) break;
      scheme = name.toLowerCase();
    } else if (scheme === wanted && value !== "" && !parameters.has(name.toLowerCase())) {
      parameters.set(name.toLowerCase(), value);
    }
  }
  return scheme === wanted ? parameters : undefined;
}

/** Returns the scopes in a `scope` parameter, which separates them by spaces. */
export function scopesIn(text: string | undefined): readonly string[] {
  return [...new Set((text ?? "").split(/\s+/).filter((scope) => scope !== ""))];
}

/** Returns the list as a parameter, separated by spaces. Undefined if it is empty. */
export function parameterOf(list: readonly string[] | undefined): string | undefined {
  return list?.join(" ") || undefined;
}

/** Returns all scopes of the lists, each once, in their order. */
export function mergeScopes(...lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())];
}

/** Whether `list` contains all `wanted` scopes. */
export function includesAll(list: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((scope) => list.includes(scope));
}
