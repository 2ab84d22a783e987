/**
 * Limits of what a server may send, which nothing can change. Those that a program can change are `defaultLimits` of
 * `target.ts`.
 */
export const fixedLimits = {
  /** Maximum memory of one item of a list, in bytes. Larger items are dropped. */
  itemBytes: 1_048_576,
  /** The longest `nextCursor` of a list, in characters. */
  cursorCharacters: 65_536,
  /** Maximum size of a `requestState` that is sent back to the server, in bytes. */
  stateBytes: 65_536,
  /** How many redirects of one request are followed. */
  redirects: 3,
  /** How many times a request is sent again after the server has refused it with 401 or 403. */
  challenges: 4,
  /** How many pages and items of a list are read, unless the caller wants fewer or more. */
  pages: 100,
  items: 10_000,
} as const;
