/** Limits for files, requests and responses. */

/** Names that end in `Bytes` are limits in bytes. */
export const limits = {
  /** The largest settings, trust or `.env` file. */
  settingsBytes: 4_194_304,
  /**
   * The largest settings file of another program. Claude Code's file is large, because it also contains a history of
   * prompts.
   */
  clientFileBytes: 16_777_216,
  settingsDepth: 64,
  /** The largest number of names, values, objects and lists in one settings file. */
  settingsValues: 50_000,
  /** The longest text in a settings file, in characters. Linux rejects longer program arguments. */
  settingsText: 131_072,
  /** The largest policy file. */
  policyBytes: 262_144,
  /** The largest number of policy files in one folder. */
  policyFiles: 100,
  /** The largest number of rules in one policy file. A rule that lists several tools counts once for each tool. */
  policyRules: 1_000,
  /** The longest name or pattern in a rule, in characters. */
  policyText: 1_000,
  /** The largest arguments of one call, from stdin or a file. */
  argumentBytes: 16_777_216,
  /** The largest text on standard input for a prompt. */
  pipedBytes: 8_388_608,
  /** The largest cached catalog of one server, on disk. */
  cachedCatalogBytes: 16_777_216,
  /** The largest response outside MCP, such as OAuth metadata or tokens. */
  fetchedBytes: 1_048_576,
  /**
   * The largest number of tools of one server. Only these tools can be called, found by search and offered to models.
   */
  toolsPerServer: 10_000,
  /** The largest number of pages of `skills/list`. A list has at most 10 000 skills. */
  skillPages: 1_000,
  /** The largest file with a private key or a JWT. */
  keyBytes: 65_536,
  /** The largest number of function declarations in one request to a model: the Gemini API rejects more. */
  declarations: 512,
  /** The largest recorded conversation, without its media. The same limit applies to all its media together. */
  conversationBytes: 268_435_456,
  /** The largest response of a model's API. */
  modelAnswerBytes: 33_554_432,
} as const;
