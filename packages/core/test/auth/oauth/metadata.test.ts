import { expect, test } from "vitest";
import { fetchDocument, toResourceMetadata, toServerMetadata } from "../../../src/auth/oauth/metadata.ts";

test("of a server's metadata, all that Fairlead uses is kept, and nothing else", () => {
  const known = {
    issuer: "https://i",
    authorization_endpoint: "https://i/a",
    token_endpoint: "https://i/t",
    registration_endpoint: "https://i/r",
    revocation_endpoint: "https://i/v",
    device_authorization_endpoint: "https://i/d",
    scopes_supported: ["s"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none"],
    token_endpoint_auth_signing_alg_values_supported: ["ES256"],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  };
  expect(toServerMetadata({ ...known, jwks_uri: "https://i/jwks" })).toEqual(known);
});

test("what is not said, or is of another kind, is not known; promises are made with true alone", () => {
  const nothing = {
    issuer: "https://i",
    authorization_response_iss_parameter_supported: false,
    client_id_metadata_document_supported: false,
  };
  expect(toServerMetadata({ issuer: "https://i" })).toEqual(nothing);
  expect(
    toServerMetadata({
      issuer: "https://i",
      token_endpoint: 7,
      scopes_supported: "s",
      authorization_response_iss_parameter_supported: "true",
      client_id_metadata_document_supported: 1,
    }),
  ).toEqual(nothing);
  expect(toServerMetadata({ token_endpoint: "https://i/t" })).toBeUndefined();
});

test("a resource's metadata says what it is about, or is none", () => {
  const known = { resource: "https://h", authorization_servers: ["https://i"], scopes_supported: ["s"] };
  expect(toResourceMetadata(known)).toEqual({
    resource: "https://h",
    authorizationServers: ["https://i"],
    scopes: ["s"],
    isDpop: false,
  });
  expect(toResourceMetadata({ resource: "https://h" })).toEqual({
    resource: "https://h",
    authorizationServers: [],
    scopes: [],
    isDpop: false,
  });
  expect(toResourceMetadata({ ...known, dpop_bound_access_tokens_required: true })?.isDpop).toBe(true);
  expect(toResourceMetadata({ ...known, resource: "" })).toBeUndefined();
});

test("of a list, the first 500 are looked at, and what is no word of a decent length is left out", () => {
  const many = Array.from({ length: 501 }, (_, index) => `s${index}`);
  const scopesOf = (list: readonly unknown[]) => toResourceMetadata({ resource: "r", scopes_supported: list })?.scopes;
  expect(scopesOf(many)).toEqual(many.slice(0, 500));
  expect(scopesOf(["", 7, null, "x".repeat(2_049), "x".repeat(2_048)])).toEqual(["x".repeat(2_048)]);
});

test.each<[string, Response, object]>([
  ["a document", new Response('{"a":1}'), { kind: "found", document: { a: 1 } }],
  ["a page for people", new Response("<html>"), { kind: "absent", status: 200 }],
  ["a refusal that looks like one", new Response('{"a":1}', { status: 404 }), { kind: "absent", status: 404 }],
])("%s", async (_, response, found) => {
  const asked: unknown[] = [];
  const fetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    asked.push([url, init]);
    return response;
  };
  expect(await fetchDocument(fetch, "https://h/x")).toEqual(found);
  expect(asked).toEqual([["https://h/x", { headers: { accept: "application/json" } }]]);
});
