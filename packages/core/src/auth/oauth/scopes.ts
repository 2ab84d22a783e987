/** The scopes in a `scope` parameter, where spaces separate them. */
export function scopesIn(text: string | undefined): readonly string[] {
  return [...new Set((text ?? "").split(/\s+/).filter((scope) => scope !== ""))];
}

export function mergeScopes(...lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())];
}

/** Whether `list` contains all `wanted` scopes. */
export function includesAll(list: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((scope) => list.includes(scope));
}
