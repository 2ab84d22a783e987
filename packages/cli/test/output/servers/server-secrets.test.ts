import {
  isTellingName,
  looksSecret,
  missingSecretLines,
  missingSecrets,
  secretHints,
  secretName,
} from "@fairlead/console/server/words/server-redaction";
import { describe, expect, test } from "vitest";
import { writtenOutput } from "../../support/written-output.ts";

test.each([
  ["API_KEY", true],
  ["apikey", true],
  ["access-key", true],
  ["privateKey", true],
  ["GITHUB_TOKEN", true],
  ["client_secret", true],
  ["PASSWORD", true],
  ["DB_PWD", true],
  ["Authorization", true],
  ["Cookie", true],
  ["npm_auth", true],
  ["GH_PAT", true],
  ["key", true],
  ["auth", true],
  ["credentials", true],
  ["PORT", false],
  ["keyboard", false],
  ["monkey", false],
  ["TOKEN_TYPE", false],
  ["AUTH_METHOD", false],
  ["TOKEN_URL", false],
  ["KEY_FILE", false],
  ["max_tokens", false],
  ["TOKEN_LIMIT", false],
])("the name %s suggests a secret: %s", (name, expected) => {
  expect(isTellingName(name)).toBe(expected);
});

test.each([
  ["TOKEN", "abc", true],
  ["TOKEN", "", false],
  ["TOKEN", "$TOKEN", false],
  ["TOKEN", "${TOKEN}", false],
  ["TOKEN", "a$$TOKEN", true],
  ["TOKEN", "a$1", true],
  ["OTHER", "ghp_abc", true],
  ["OTHER", "sk-abc", true],
  ["OTHER", "github_pat_x", true],
  ["OTHER", "glpat-x", true],
  ["OTHER", "xoxb-x", true],
  ["OTHER", "AKIA0", true],
  ["OTHER", "eyJhbGci.x", true],
  ["OTHER", "-----BEGIN KEY", true],
  ["OTHER", "Bearer x", true],
  ["OTHER", "Bearer ", false],
  ["OTHER", "Bearer $TOKEN", false],
  ["OTHER", "plain", false],
  ["OTHER", "a ghp_abc", false],
])("%s with the value %j has a literal secret: %s", (name, value, expected) => {
  expect(looksSecret(name, value)).toBe(expected);
});

describe("literal secrets of an entry", () => {
  test.each<[entry: Readonly<Record<string, unknown>>, hints: readonly object[]]>([
    [{}, []],
    [{ env: "TOKEN", headers: null, url: 7 }, []],
    [
      { env: { "my-token": "abc", PORT: "1", TOKEN: 7 }, headers: { Authorization: "$AUTH" } },
      [{ key: "env.my-token", secret: "MY_TOKEN" }],
    ],
    [
      { headers: { "X-Api-Key": "abc" }, oauth: { clientSecret: "s", clientId: "c" } },
      [
        { key: "headers.X-Api-Key", secret: "X_API_KEY" },
        { key: "oauth.clientSecret", secret: "CLIENTSECRET" },
      ],
    ],
    [{ env: { DATABASE: "pg://me:pw@host/db" } }, [{ key: "env.DATABASE (its password)", secret: "PASSWORD" }]],
    [
      { url: "https://me:pw@host/?token=abc&port=1#x", httpUrl: "https://host/?a=1&api_key=k" },
      [
        { key: "url (its password)", secret: "PASSWORD" },
        { key: "url (its parameter token)", secret: "TOKEN" },
        { key: "httpUrl (its parameter api_key)", secret: "API_KEY" },
      ],
    ],
    [{ url: "https://me:$PW@host/?token=$TOKEN" }, []],
    [{ url: "https://me@host:80/path" }, []],
    [{ url: "https://host/a:b@c" }, []],
  ])("%j", (entry, hints) => {
    expect(secretHints(entry)).toEqual(hints);
  });

  test("are stored under the name in capital letters", () => {
    expect(secretName("x-api key1_é")).toBe("X_API_KEY1__");
  });
});

test("secrets that are not stored have a line with the command that stores them", async () => {
  expect(missingSecretLines(["A", "B", "C"], new Set(["C", "A"]))).toEqual([
    "the secret A is not stored: fairlead secret set A",
    "the secret C is not stored: fairlead secret set C",
  ]);
  const { context, stderr } = writtenOutput();
  const locations = { state: "/nowhere/at/all" } as Parameters<typeof missingSecrets>[0]["locations"];
  expect(await missingSecrets({ servers: [], locations }, context)).toEqual(new Set());
  expect(stderr()).toBe("");
});
