/** Bounds on what comes from outside. Generous for honest input; over them, a named error instead of a slow death. */

export const limits = {
  /** A settings, trust or `.env` file. */
  settingsBytes: 4_194_304,
  settingsDepth: 64,
  /** Names, values, objects and lists in one settings file. */
  settingsValues: 50_000,
  /** Characters in one text; Linux takes no longer argument. */
  settingsText: 131_072,
  /** Arguments of one call, from stdin or a file. */
  argumentBytes: 16_777_216,
  /** What is remembered of one server's lists. */
  catalogBytes: 33_554_432,
} as const;
