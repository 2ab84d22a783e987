import { expect, test } from "vitest";
import { otherTokenHost } from "../../../src/auth/oauth/discovery.ts";

test.each([
  ["https://issuer.example/a", "https://issuer.example/token", undefined],
  ["https://issuer.example", "https://tokens.example/token", "tokens.example"],
  ["https://issuer.example", "https://issuer.example:8443/token", "issuer.example:8443"],
  ["no address", "https://tokens.example/token", "tokens.example"],
])("of %s, tokens at %s come from another host: %s", (issuer, endpoint, host) => {
  expect(otherTokenHost(issuer, endpoint)).toBe(host);
});
