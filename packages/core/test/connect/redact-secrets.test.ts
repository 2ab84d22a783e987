/** Which values of a server count as secret, and in which forms. */

import { describe, expect, test } from "vitest";
import { proxyAccounts, secretsOf, secretVariables, unmistakableSecrets } from "../../src/connect/redact.ts";
import type { ServerDefinition, Transport } from "../../src/settings/define/definition.ts";

const program = (env: Readonly<Record<string, string>>, ...args: readonly string[]): Transport => ({
  kind: "stdio",
  command: "tool",
  args,
  env: new Map(Object.entries(env)),
});
const address = (url: string, headers: Readonly<Record<string, string>> = {}): Transport => ({
  kind: "http",
  url,
  headers: new Map(Object.entries(headers)),
});
const written = (transport: Transport, values: Readonly<Record<string, string>> = {}): ServerDefinition =>
  ({ name: "s", transport, values: new Map(Object.entries(values)) }) as unknown as ServerDefinition;
/** The secrets of an entry that is written as it is expanded, without repetitions and empty texts. */
const secrets = (transport: Transport, fromLength?: number): unknown => [
  ...new Set(secretsOf(transport, written(transport), [], fromLength).filter((text) => text !== "")),
];

test.each<[string, Transport, readonly string[]]>([
  ["a value in env", program({ REGION: "eu-west", MY_TOKEN: "abc" }), ["eu-west", "abc"]],
  [
    "no value that says nothing",
    program({ A: "/home/me", B: "true", C: "8080", D: "debug", E: "en_US.UTF-8", F: "~", G: "C:\\x" }),
    [],
  ],
  ["a plain value under a telling name", program({ MY_TOKEN: "8080", API_KEY: "true" }), ["8080", "true"]],
  ["the value of an option", program({}, "--token", "abc", "--port", "80", "--api-key=def"), ["abc", "def"]],
  ["no option after an option", program({}, "--token", "--verbose"), []],
  [
    "a value in JSON, also without its escapes",
    program({}, '{"password": "a\\u0041b"}'),
    [String.raw`a\u0041b`, "aAb"],
  ],
  [
    "a header, with its scheme and without",
    address("https://a.example", { Authorization: "Bearer abc" }),
    ["Bearer abc", "abc"],
  ],
  ["a header that says nothing", address("https://a.example", { Accept: "true", "X-Id": "7" }), []],
  ["an account in a URL", address("https://me:pa%20ss@a.example/x"), ["me:pa%20ss", "me:pa ss", "pa%20ss", "pa ss"]],
  [
    "parameters of a URL",
    address("https://a.example/x?token=1&page=2&name=a+b&flag#token=c"),
    ["1", "a+b", "a b", "flag"],
  ],
  ["a URL in an argument", program({}, "--db=postgres://me:abc@db/x"), ["me:abc", "abc"]],
  ["nothing in a text that is no URL", program({}, "me:abc@db?page=x"), []],
])("%s", (_, transport, expected) => {
  expect(secrets(transport)).toEqual(expected);
});

describe("expanded variables", () => {
  test("are secret, except paths and common variables, unless their names are telling", () => {
    const values = { NAME: "abc", HOME: "me", LC_ALL: "x", PLACE: "/p", MY_TOKEN: "/t", USER: "u" };
    expect(secretsOf(program({}), written(program({}), values), ["stored"])).toEqual([
      "stored",
      "stored",
      "abc",
      "abc",
      "/t",
      "/t",
    ]);
  });

  test("decide for an entry that only names them", () => {
    const given = program({ A: "abc", B: "abc", C: "abc", D_TOKEN: "abc" });
    const entry = written(program({ A: "$X", B: "${X}", C: "x$X", D_TOKEN: "$X" }));
    expect(secretsOf(given, entry, [])).toEqual(["abc", "abc", "abc", "abc"]);
  });
});

test("with a least length, shorter values count only under telling names or as keys", () => {
  const key = "-----BEGIN X PRIVATE KEY-----";
  const values = { REGION: "x".repeat(19), LONG: "y".repeat(20), MY_TOKEN: "abc", PEM: key };
  expect(secrets(program(values), 20)).toEqual(["y".repeat(20), "abc", key]);
  expect(secrets(program(values), 30)).toEqual(["abc", key]);
  expect(secrets(address("https://a.example/?a=short&token=b&long=longer-than-that"), 10)).toEqual([
    "b",
    "longer-than-that",
  ]);
});

test("what no ordinary name contains by chance is long enough, the longer if it has no digit", () => {
  const values = {
    A_TOKEN: "abcdefg1",
    B_TOKEN: "abcdef1",
    C_TOKEN: "abcdefghijklmnop",
    D_TOKEN: "abcdefghijklmno",
    OTHER: "abcdefghijklmnop1234",
  };
  const transport = program(values);
  expect([...new Set(unmistakableSecrets(transport, written(transport), ["stored12", "stored1"]))]).toEqual([
    "stored12",
    "abcdefg1",
    "abcdefghijklmnop",
  ]);
});

test("variables with telling names are secret from eight characters on, if they are not plain", () => {
  const env = {
    MY_TOKEN: "abcdefgh",
    A_TOKEN: "abcdefg",
    NAME: "abcdefghi",
    KEY_SECRET: "/home/me/key",
    B_TOKEN: undefined,
  };
  expect(secretVariables(env)).toEqual(["abcdefgh"]);
});

test.each([
  [{ HTTPS_PROXY: "http://me:pass@proxy:8080" }, ["me:pass", "pass"]],
  [{ all_proxy: "me:p@ss@proxy" }, ["me:p@ss", "p@ss"]],
  [{ http_proxy: "http://me:a%2Bb+c@proxy" }, ["me:a%2Bb+c", "me:a+b+c", "me:a+b c", "a%2Bb+c", "a+b+c", "a+b c"]],
  [{ http_proxy: "http://me:100%@proxy" }, ["me:100%", "100%"]],
  [{ http_proxy: "http://me@proxy" }, ["me"]],
  [{ http_proxy: "http://proxy", MY_PROXY: "http://me:pass@proxy" }, []],
])("the accounts of proxies in %j", (env, expected) => {
  expect([...new Set(proxyAccounts(env))]).toEqual(expected);
});
