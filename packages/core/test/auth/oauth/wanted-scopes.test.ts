import { expect, test } from "vitest";
import { wantedScopes } from "../../../src/auth/oauth/discovery.ts";

const nothing = { chosen: undefined, before: undefined };

test("what a person wrote is taken as it stands, also if it is nothing", () => {
  const offers = { ...nothing, scopes: ["read"], offered: ["read", "offline_access"] };
  expect(wantedScopes({ ...offers, chosen: ["mine"] })).toEqual(["mine"]);
  expect(wantedScopes({ ...offers, chosen: [] })).toEqual([]);
});

test("where something was not enough, none of it is lost", () => {
  const wishes = { scopes: ["write", "read"], chosen: ["mine"], before: ["read"] };
  expect(wantedScopes(wishes)).toEqual(["read", "mine", "write"]);
  expect(wantedScopes({ ...wishes, chosen: undefined })).toEqual(["read", "write"]);
});

test("a refresh token is asked for where it is offered, and only there", () => {
  const wanted = (scopes: readonly string[], offered: readonly string[]) =>
    wantedScopes({ ...nothing, scopes, offered });
  expect(wanted(["read"], ["offline_access"])).toEqual(["read", "offline_access"]);
  expect(wanted(["read", "offline_access"], ["read"])).toEqual(["read"]);
});

test("who does not say what they offer gets what the server asks for, and nothing is added to nothing", () => {
  const both = ["read", "offline_access"];
  expect(wantedScopes({ ...nothing, scopes: both })).toEqual(both);
  expect(wantedScopes({ ...nothing, scopes: [], offered: ["offline_access"] })).toEqual([]);
});
