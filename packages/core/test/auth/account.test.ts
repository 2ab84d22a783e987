import { expect, test } from "vitest";
import { accountIn } from "../../src/auth/sign-in.ts";

function tokenWith(claims: unknown): string {
  return `header.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.signature`;
}

test.each<[string, unknown, string | undefined]>([
  ["the address", { email: "a@b.example", preferred_username: "a", sub: "1" }, "a@b.example"],
  ["the name", { preferred_username: "a", sub: "1" }, "a"],
  ["the number, where nothing else is told", { email: "", sub: "1" }, "1"],
  ["nothing", {}, undefined],
  ["nothing of what is no text", { email: 7, sub: { a: 1 } }, undefined],
  ["nothing of what is no object", ["email"], undefined],
  ["no more than 200 characters", { sub: "x".repeat(201) }, "x".repeat(200)],
])("of a token, %s is taken", (_, claims, account) => {
  expect(accountIn(tokenWith(claims))).toBe(account);
});

test.each([undefined, "", "nonsense", "a.b.c"])("%j names no account", (token) => {
  expect(accountIn(token)).toBeUndefined();
});
