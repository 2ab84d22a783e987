import { expect, test } from "vitest";
import { readChallenge } from "../../../src/auth/oauth/challenge.ts";

test.each([
  ["nothing", undefined, {}],
  ["an empty header", "", {}],
  ["a scheme alone", "Bearer", {}],
  ["quoted values", 'Bearer scope="a b", error="invalid_token"', { scope: "a b", error: "invalid_token" }],
  ["bare values", "Bearer error=insufficient_scope, scope=write", { error: "insufficient_scope", scope: "write" }],
  ["escaped quotes", 'Bearer error_description="say \\"no\\", twice"', { errorDescription: 'say "no", twice' }],
  ["any case", 'bEARER Scope="a"', { scope: "a" }],
  ["spaces around the sign", 'Bearer scope = "a"', { scope: "a" }],
  ["names that only end alike", 'Bearer x_scope="no", scope="yes"', { scope: "yes" }],
  ["a name inside a value", 'Bearer realm="scope=no", scope="yes"', { scope: "yes" }],
  ["the first of two values", 'Bearer scope="one", scope="two"', { scope: "one" }],
  ["another scheme before it", 'Basic realm="x", scope="no", Bearer scope="yes"', { scope: "yes" }],
  ["another scheme after it", 'Bearer scope="yes", Basic scope="no", error="no"', { scope: "yes" }],
  ["another scheme only", 'Basic error="no"', {}],
  ["a key-bound token", 'DPoP error="use_dpop_nonce"', { error: "use_dpop_nonce", isDpop: true }],
  ["either kind of token", 'DPoP scope="no", Bearer scope="yes"', { scope: "yes" }],
  ["a quotation that never ends", 'Bearer scope="a", error="b', { scope: "a" }],
  [
    "where the metadata is",
    'Bearer resource_metadata="https://h/.well-known/x"',
    { resourceMetadata: "https://h/.well-known/x" },
  ],
])("%s", (_, header, expected) => {
  expect(readChallenge(header)).toEqual(expected);
});

test("a header made to be slow is read at once", () => {
  expect(readChallenge(`Bearer ${'a="\\'.repeat(8_000)}`)).toEqual({});
  expect(readChallenge(`${"a, ".repeat(10_000)}Bearer scope="x"`)).toEqual({ scope: "x" });
});
