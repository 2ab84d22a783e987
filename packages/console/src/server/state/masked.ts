/** Hides secrets in everything that leaves the console's server. */

/**
 * Members that identify something for a command. They stay as they are: with a hidden part they would identify nothing.
 * The host drops what a server lists under a name with a secret.
 */
const identifiers: ReadonlySet<string> = new Set(
  "id server servers call conversation tool prompt uri uriTemplate type kind status state reason".split(" "),
);
/** Members that contain a document of a server, a client or a model. In it, no name of a member means anything to us. */
const foreign: ReadonlySet<string> = new Set(
  "args arguments result schema inputSchema outputSchema annotations event content".split(" "),
);

/** Deeper values are replaced by a description. */
const mostLevels = 200;
const tooDeep = "(nested too deeply to show)";

type Hide = (text: string) => string;

/** Returns a copy of a JSON value in which `hide` has replaced secrets in texts, numbers and names of members. */
export function masked<T>(value: T, hide: Hide): T {
  return copy(value, hide, 0, false) as T;
}

function copy(value: unknown, hide: Hide, level: number, isForeign: boolean): unknown {
  if (typeof value === "string") return hide(value);
  if (typeof value === "number") return isForeign && hide(String(value)) !== String(value) ? 0 : value;
  if (typeof value !== "object" || value === null) return value;
  if (level === mostLevels) return tooDeep;
  if (Array.isArray(value)) return value.map((each) => copy(each, hide, level + 1, isForeign));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (!isForeign && identifiers.has(name) && isIdentifier(member)) return [name, member];
      const isOfOthers = isForeign || foreign.has(name);
      return [isForeign ? hide(name) : name, copy(member, hide, level + 1, isOfOthers)];
    }),
  );
}

function isIdentifier(value: unknown): boolean {
  return typeof value === "string" || (Array.isArray(value) && value.every((each) => typeof each === "string"));
}
