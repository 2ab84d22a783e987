/** Limits on input from outside. Input above a limit is an error that names the limit. */

/** The limits, in bytes where the name ends in `Bytes`. */
export const limits = {
  /** A settings, trust or `.env` file. */
  settingsBytes: 4_194_304,
  /** A settings file of another program: Claude Code's file also holds histories. */
  clientFileBytes: 16_777_216,
  settingsDepth: 64,
  /** Names, values, objects and lists in one settings file. */
  settingsValues: 50_000,
  /** Characters in one text; Linux accepts no longer argument. */
  settingsText: 131_072,
  /** A policy file. */
  policyBytes: 262_144,
  /** Policy files in one folder. */
  policyFiles: 100,
  /** Rules in one policy file; each tool of a list counts as one rule. */
  policyRules: 1_000,
  /** Characters of a name or a pattern in a rule. */
  policyText: 1_000,
  /** Arguments of one call, from stdin or a file. */
  argumentBytes: 16_777_216,
  /** Standard input of a prompt. */
  pipedBytes: 8_388_608,
  /** The cached catalog of one server, on disk. */
  cachedCatalogBytes: 16_777_216,
  /** A response outside MCP, such as OAuth metadata or tokens. */
  fetchedBytes: 1_048_576,
  /** Tools of one server that can be called, found by search and offered to models. */
  toolsPerServer: 10_000,
  /** A private key, or the file of a JWT. */
  keyBytes: 65_536,
  /** Function declarations in one request to a model: the Gemini API rejects more. */
  declarations: 512,
  /** A recorded conversation; its media together may have as much again. */
  conversationBytes: 268_435_456,
  /** One response of a model's API. */
  modelAnswerBytes: 33_554_432,
} as const;
