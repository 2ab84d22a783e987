/** The form of names that models' APIs accept. Which tool or prompt gets a name: `server/names.ts`. Pure. */

const longest = 63;

/** Makes a name valid. Two different names may become equal; a registry makes them unique. */
export function generateValidName(name: string): string {
  const valid = name.replace(/[^a-zA-Z0-9_.-]/g, "_");
  return valid.length > longest ? `${valid.slice(0, 28)}___${valid.slice(-32)}` : valid;
}

/** Joins the names of a server and a tool: `server__tool`. */
export function qualify(server: string, name: string): string {
  return `${server}__${name}`;
}

/** The names that a tool or prompt may have at a server whose catalog is not loaded, if a client calls it by `word`. */
export function possibleNames(server: string, word: string): readonly string[] {
  const prefix = qualify(server, "");
  return word.startsWith(prefix) ? [word.slice(prefix.length), word] : [word];
}

/**
 * The tool's name without the server's name, in a form that the API accepts. The API requires a letter or an underscore
 * at the start.
 */
export function toModelName(name: string): string {
  return generateValidName(/^[.\-0-9]/.test(name) ? `_${name}` : name);
}

/**
 * The key of a tool or prompt in maps. It is JSON of the two names, because a name may contain any character that could
 * serve as a separator.
 */
export function toolKey(server: string, name: string): string {
  return JSON.stringify([server, name]);
}
