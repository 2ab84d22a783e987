import { expect, test } from "vitest";
import { clientProof } from "../../../src/auth/oauth/endpoint-request.ts";

const registered = (method: string) => ({ registration: { token_endpoint_auth_method: method } });
const basic = (text: string) => ({
  headers: { authorization: `Basic ${Buffer.from(text).toString("base64")}` },
  parameters: {},
});
const secret = { clientId: "id", clientSecret: "word" };
const posted = { headers: {}, parameters: { client_id: "id", client_secret: "word" } };
const named = { headers: {}, parameters: { client_id: "id" } };

test("a client without a secret says its name, whatever it was registered for", () => {
  expect(clientProof({ clientId: "id" })).toEqual(named);
  expect(clientProof({ clientId: "id", authentication: "client_secret_post" })).toEqual(named);
});

test("a client with a secret proves itself in the way it was registered for", () => {
  expect(clientProof({ ...secret, authentication: "client_secret_post" })).toEqual(posted);
  expect(clientProof({ ...secret, ...registered("client_secret_post") })).toEqual(posted);
  expect(clientProof({ ...secret, ...registered("client_secret_basic") })).toEqual(basic("id:word"));
  expect(clientProof({ ...secret, ...registered("none") })).toEqual(named);
  expect(clientProof({ ...secret, authentication: "client_secret_post", ...registered("none") })).toEqual(posted);
});

test("without a word about it, or with one that nobody knows, it is the standard's own way", () => {
  expect(clientProof(secret)).toEqual(basic("id:word"));
  expect(clientProof({ ...secret, ...registered("private_key_jwt") })).toEqual(basic("id:word"));
});

test("no character of an ID or a secret moves the border between them", () => {
  expect(clientProof({ clientId: "a:b c", clientSecret: "d:e%&ü" })).toEqual(basic("a%3Ab+c:d%3Ae%25%26%C3%BC"));
});
