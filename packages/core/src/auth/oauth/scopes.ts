/** Scopes: lists of words that are asked for, granted and compared. */

/** As they stand in a parameter: separated by spaces. */
export function scopesIn(text: string | undefined): readonly string[] {
  return [...new Set((text ?? "").split(/\s+/).filter((scope) => scope !== ""))];
}

export function mergeScopes(...lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())];
}

export function includesAll(list: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((scope) => list.includes(scope));
}
