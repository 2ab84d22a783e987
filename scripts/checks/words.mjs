// The words that docs/glossary.md replaces by another, for identifiers and for the names of files and folders.

/** The word to use instead, by the forbidden word. */
export const replaced = new Map([
  ["shelf", "registry"],
  ["shelves", "registries"],
  ["marks", "changed definitions"],
  ["knowledge", "catalog cache, or accepted definitions"],
  ["offering", "catalog"],
  ["offerings", "catalogs"],
  ["verdict", "decision, or negotiated protocol"],
  ["verdicts", "decisions"],
  ["judge", "decide"],
  ["judgement", "decision"],
  ["judgements", "decisions"],
  ["asking", "confirmation, or question"],
  ["askings", "confirmations, or questions"],
  ["seal", "approval, or encrypt"],
  ["seals", "approvals"],
  ["sealed", "approved, or encrypted"],
  ["unseal", "decrypt"],
  ["backup", "receipt"],
  ["backups", "receipts"],
  ["cassette", "recording"],
  ["cassettes", "recordings"],
  ["tape", "recording"],
  ["tapes", "recordings"],
  ["humble", "always qualified"],
  ["redeem", "run confirmed"],
  ["toolbox", "conversation tools"],
  ["witness", "traffic log"],
  ["farewell", "pending cancellation"],
  ["farewells", "pending cancellations"],
  ["oddity", "diagnostic"],
  ["oddities", "diagnostics"],
  ["resting", "idle"],
  ["patience", "timeout"],
  ["learnt", "catalog snapshot"],
  ["came", "outcome"],
  ["today", "now"],
  ["healing", "retryable"],
  ["spoken", "stdout buffer"],
  ["bench", "services"],
  ["whoever", "the name of the person or program"],
  ["somebody", "the name of the person or program"],
  ["nobody", "no terminal, or no user"],
]);

/**
 * Words that no identifier may consist of, in the singular: `known` does not say what is known. Plurals count too. A
 * compound in an allowed meaning may contain the word: `knownOptions`.
 */
export const neverAlone = new Set(["place", "offer", "memory", "mark", "known", "saved", "lost"]);

/** Members of core that consist of such a word and keep it, because programs or files of users have the name. `files` are below core's `src`. */
export const publicMembers = [
  {
    name: "offer",
    files: [
      "server/catalog-store.ts",
      "events.ts",
      "host/types.ts",
      "server/filtered-catalog.ts",
      "server/server-state.ts",
    ],
    reason: "a member of public types, of events, of `--json` output and of the files of the catalog cache",
  },
  { name: "offers", files: ["turn/conversation.ts"], reason: "a member of the public type `Conversation`" },
  { name: "places", files: ["turn/conversation.ts"], reason: "a member of the files of recorded conversations" },
];

/**
 * Words with a second, ordinary meaning.
 *
 * - `use`: the word to use for the concept of the glossary.
 * - `allowed`: the meaning in which the word is allowed.
 * - `files`: the only files in which the word is allowed. Absent: all files.
 * - `compounds`: compounds that have the forbidden meaning, in the singular. They are forbidden in all files.
 */
export const otherMeanings = [
  {
    word: "entry",
    use: "server definition",
    allowed: "one server as a settings file contains it; one row of a file, a list or a Map",
    compounds: ["resolved entry", "defined entry", "expanded entry"],
  },
  {
    word: "conversation",
    use: "connection, or session",
    allowed: "a chat with a model",
    compounds: ["server conversation", "wire conversation", "transport conversation", "protocol conversation"],
  },
  {
    word: "place",
    use: "connection",
    allowed: "a position in a text, a file or a list; a location on disk",
    compounds: ["server place", "connection place", "session place"],
  },
  {
    word: "offer",
    use: "catalog",
    allowed: "what a model or the user can choose from",
    compounds: ["server offer", "catalog offer", "cached offer", "locked offer", "offer word", "offered catalog"],
  },
  {
    word: "memory",
    use: "catalog cache",
    allowed: "the bytes that a value or a thread takes",
    files: /^packages\/(?:wire\/src\/(?:shapes\/|errors\.ts)|core\/src\/(?:execute|results)\/)/,
    compounds: ["catalog memory", "tool memory", "server memory", "definition memory"],
  },
  {
    word: "mark",
    use: "changed definition",
    allowed: "characters that mark a text, for example a byte order mark; to mark something",
    compounds: ["changed mark", "tool mark", "definition mark", "server mark"],
  },
  {
    word: "known",
    use: "accepted definitions, or catalog cache",
    allowed: "contained in the list at hand: a known option, a known client",
    compounds: ["known tool", "known definition", "known catalog", "known server", "known digest", "read known"],
  },
  {
    word: "ask",
    use: "confirmation",
    allowed: "the decision `ask`; the verb",
    compounds: ["ask request", "ask option", "ask dialog", "pending ask", "open ask"],
  },
  {
    word: "answer",
    use: "approval",
    allowed: "what a person, a model, a server or a client replies",
    compounds: ["saved answer", "stored answer", "kept answer", "approved answer", "answer rule"],
  },
  {
    word: "saved",
    use: "approval",
    allowed: "written to disk",
    compounds: ["saved answer", "saved yes", "saved rule", "saved consent"],
  },
  {
    word: "lost",
    use: "reconnecting",
    allowed: "of a call, a message or a lock: it will never come back",
    compounds: ["lost server", "lost connection", "lost session", "server lost", "connection lost"],
  },
  {
    word: "claims",
    use: "annotations",
    allowed: "the members of a JSON Web Token",
    files: /^packages\/(?:core\/src\/auth|test-servers\/src\/(?:authorization-server|google-server))\//,
    compounds: ["claims read", "claimed hint", "tool claim", "server claim"],
  },
  {
    word: "server",
    use: "background host",
    allowed: "an MCP server; a program that listens on an address",
    compounds: ["background server", "daemon server"],
  },
  {
    word: "session",
    use: "recorded conversation",
    allowed: "one live link to a server, in the wire; one run of the terminal app",
    compounds: ["recorded session", "saved session", "resumed session", "chat session"],
  },
  {
    word: "recording",
    use: "recorded conversation",
    allowed: "a file with the messages between a client and a server",
    compounds: ["conversation recording", "chat recording", "turn recording"],
  },
  {
    word: "reference",
    use: "result handle",
    allowed: "`@server://path` or `@file` in a prompt; `$ref` in a schema; a variable in a settings file",
    compounds: ["result reference"],
  },
  {
    word: "pointer",
    use: "result handle",
    allowed: "a JSON pointer; the sign before the chosen line",
    compounds: ["result pointer"],
  },
  {
    word: "project",
    use: "workspace",
    allowed: "a project of Google Cloud, or of another program whose settings Fairlead imports",
    compounds: ["project root", "project scope", "project setting", "trusted project"],
  },
  {
    word: "proxy",
    use: "gateway, or relay",
    allowed: "an HTTP proxy; the program `mcp-remote` in settings of others",
    compounds: ["client proxy", "proxy host", "stdio proxy", "message proxy"],
  },
  {
    word: "queue",
    use: "inbox",
    allowed: "calls, events or questions that wait for their turn in one process",
    compounds: ["approval queue", "consent queue", "confirmation queue", "client queue"],
  },
  {
    word: "gate",
    use: "spine",
    allowed: "a setting that restricts which servers start; the public type `Gate`",
    compounds: ["request gate", "call gate", "open gate", "run gate"],
  },
];
