import { seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hideInArguments, hideInUrl, hideLiteral, holdsSecret, redact } from "../../src/output/server-redaction.ts";

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
  expect(hideInArguments(args)).toEqual(shown);
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

describe("whatever the canary is hidden in", () => {
  const canary = "C4n4ryV4lu3";
  test("no value of a variable or header is shown", () => {
    const numRuns = 1000;
    const check = fc.property(fc.string(), fc.string(), (before, after) => {
      // A dollar sign right before would make a variable's name of the canary.
      const value = `${before.replaceAll(/[${}]/g, "")}${canary}${after.replaceAll(/[{}]/g, "")}`;
      const map = new Map([["ANY", value]]);
      const stdio = redact({ kind: "stdio", command: "x", args: ["--password", value], env: map });
      const http = redact({ kind: "http", url: "https://example.com", headers: map });
      expect(
        JSON.stringify([stdio.kind === "stdio" && [...stdio.env], http.kind === "http" && [...http.headers]]),
      ).not.toContain(canary);
    });
    fc.assert(check, { numRuns, seed: seed() });
  });
});

test.each([
  [{ command: "x", env: { TOKEN: "abc" } }, true],
  [{ command: "x", env: { TOKEN: "$T" } }, false],
  [{ command: "x", env: { MODE: "fast" } }, false],
  [{ command: "x", args: ["--token", "abc"] }, true],
  [{ url: "https://me:abc@example.com" }, true],
  [{ httpUrl: "https://example.com?key=abc" }, true],
  [{ url: "https://example.com", headers: { "X-Api-Key": "abc" } }, true],
  [{ url: "https://example.com", oauth: { clientSecret: "abc" } }, true],
  [{ url: "https://example.com", oauth: { clientId: "abc" } }, false],
  [{ command: 1, args: "x", env: null }, false],
])("whether %j holds a secret", (entry, holds) => {
  expect(holdsSecret(entry)).toBe(holds);
});
