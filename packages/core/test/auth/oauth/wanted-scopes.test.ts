import { expect, test } from "vitest";
import type { SignInPlan } from "../../../src/auth/oauth/discovery.ts";
import { wantedScopes } from "../../../src/auth/oauth/discovery.ts";

function plan(scopes: readonly string[], offered?: readonly string[]): SignInPlan {
  return {
    issuer: "https://issuer",
    isIssuerKnown: true,
    isLegacyFallback: false,
    isGuess: false,
    isDpop: false,
    resource: "https://h/mcp",
    endpoints: { authorization: "https://issuer/authorize", token: "https://issuer/token" },
    scopes,
    metadata: {
      sendsIssuer: false,
      takesMetadataDocuments: false,
      ...(offered && { scopes: offered }),
    },
  };
}

const nothing = { chosen: undefined, before: undefined };

test("what a person wrote is taken as it stands, also if it is nothing", () => {
  const offers = plan(["read"], ["read", "offline_access"]);
  expect(wantedScopes({ ...nothing, plan: offers, chosen: ["mine"] })).toEqual(["mine"]);
  expect(wantedScopes({ ...nothing, plan: offers, chosen: [] })).toEqual([]);
});

test("where something was not enough, none of it is lost", () => {
  const wishes = { plan: plan(["write", "read"]), chosen: ["mine"], before: ["read"] };
  expect(wantedScopes(wishes)).toEqual(["read", "mine", "write"]);
  expect(wantedScopes({ ...wishes, chosen: undefined })).toEqual(["read", "write"]);
});

test("a refresh token is asked for where it is offered, and only there", () => {
  expect(wantedScopes({ ...nothing, plan: plan(["read"], ["offline_access"]) })).toEqual(["read", "offline_access"]);
  expect(wantedScopes({ ...nothing, plan: plan(["read", "offline_access"], ["read"]) })).toEqual(["read"]);
});

test("who does not say what they offer gets what the server asks for, and nothing is added to nothing", () => {
  expect(wantedScopes({ ...nothing, plan: plan(["read", "offline_access"]) })).toEqual(["read", "offline_access"]);
  expect(wantedScopes({ ...nothing, plan: plan([], ["offline_access"]) })).toEqual([]);
});
