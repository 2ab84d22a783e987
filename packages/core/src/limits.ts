/** Bounds on what comes from outside. Generous for honest input; over them, a named error instead of a slow death. */

export const limits = {
  /** A settings, trust or `.env` file. */
  settingsBytes: 4_194_304,
  settingsDepth: 64,
  /** Names, values, objects and lists in one settings file. */
  settingsValues: 50_000,
  /** Characters in one text; Linux takes no longer argument. */
  settingsText: 131_072,
  /** A policy file. */
  policyBytes: 262_144,
  /** Policy files in one folder. */
  policyFiles: 100,
  /** Rules in one policy file, each tool of a list counted. */
  policyRules: 1_000,
  /** Characters of a name or a pattern in a rule. */
  policyText: 1_000,
  /** Arguments of one call, from stdin or a file. */
  argumentBytes: 16_777_216,
  /** What is piped in beside a prompt. */
  pipedBytes: 8_388_608,
  /** What is remembered of one server's lists. */
  catalogBytes: 33_554_432,
  /** An answer to what is asked beside the wire: metadata, tokens. */
  fetchedBytes: 1_048_576,
  /** One answer of a model, as it travels. */
  modelAnswerBytes: 33_554_432,
} as const;
