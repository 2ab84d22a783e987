/** Returns the scopes in a `scope` parameter, which separates them by spaces. */
export function scopesIn(text: string | undefined): readonly string[] {
  return [...new Set((text ?? "").split(/\s+/).filter((scope) => scope !== ""))];
}

/** Returns all scopes of the lists, each once, in their order. */
export function mergeScopes(...lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())];
}

/** Whether `list` contains all `wanted` scopes. */
export function includesAll(list: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((scope) => list.includes(scope));
}
