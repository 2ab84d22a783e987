import { describe, expect, test } from "vitest";
import { discoverSignIn } from "../../../src/auth/oauth/discovery.ts";
import { createFail } from "../../../src/auth/oauth/failure.ts";
import { covers, resourceMetadataUrls, resourceOf, serverMetadataUrls } from "../../../src/auth/oauth/metadata.ts";

test.each([
  ["https://h/", ["https://h/.well-known/oauth-protected-resource"]],
  [
    "https://h:8443/a/mcp/",
    [
      "https://h:8443/.well-known/oauth-protected-resource/a/mcp",
      "https://h:8443/.well-known/oauth-protected-resource",
    ],
  ],
  [
    "https://h/mcp?tenant=1",
    ["https://h/.well-known/oauth-protected-resource/mcp?tenant=1", "https://h/.well-known/oauth-protected-resource"],
  ],
])("the metadata of %s is looked for at its path, then at the root", (url, expected) => {
  expect(resourceMetadataUrls(url)).toEqual(expected);
});

test.each([
  ["https://a", ["https://a/.well-known/oauth-authorization-server", "https://a/.well-known/openid-configuration"]],
  [
    "https://a/tenant/",
    [
      "https://a/.well-known/oauth-authorization-server/tenant",
      "https://a/.well-known/openid-configuration/tenant",
      "https://a/tenant/.well-known/openid-configuration",
    ],
  ],
])("the metadata of the issuer %s is looked for in all three places, in order", (issuer, expected) => {
  expect(serverMetadataUrls(issuer)).toEqual(expected);
});

test("a server that names no resource is one by its address, without slash, query and fragment", () => {
  expect(resourceOf("https://H:443/a/mcp/?x=1#y")).toBe("https://h/a/mcp");
  expect(resourceOf("https://h/")).toBe("https://h");
});

describe("a token for a resource is meant for a server", () => {
  test.each([
    ["https://h/mcp", "https://h/mcp", true],
    ["https://h/mcp/", "https://h/mcp", true],
    ["https://h", "https://h/mcp", true],
    ["https://h/a", "https://h/a/mcp", true],
    ["https://h/mcp", "https://h/mcp?tenant=1", true],
    ["https://h/mcp?tenant=1", "https://h/mcp?tenant=1", true],
    ["https://h/mcp?tenant=2", "https://h/mcp?tenant=1", false],
    ["https://h/mcp/deeper", "https://h/mcp", false],
    ["https://h/mc", "https://h/mcp", false],
    ["https://h/mcp", "https://h/mcp-other", false],
    ["https://other/mcp", "https://h/mcp", false],
    ["http://h/mcp", "https://h/mcp", false],
    ["https://h:444/mcp", "https://h/mcp", false],
    ["https://me@h/mcp", "https://h/mcp", false],
    ["https://h/x/../mcp", "https://h/mcp", true],
    ["no address", "https://h/mcp", false],
  ])("%s for %s: %s", (resource, server, expected) => {
    expect(covers(resource, server)).toBe(expected);
  });
});

test("a place that answers without naming a resource is passed over for the next", async () => {
  const documents = new Map<string, object>([
    ["https://h.example/.well-known/oauth-protected-resource/mcp", { hello: "world" }],
    [
      "https://h.example/.well-known/oauth-protected-resource",
      { resource: "https://h.example", authorization_servers: ["https://login.example"] },
    ],
    [
      "https://login.example/.well-known/oauth-authorization-server",
      {
        issuer: "https://login.example",
        authorization_endpoint: "https://login.example/authorize",
        token_endpoint: "https://login.example/token",
      },
    ],
  ]);
  const plan = await discoverSignIn({
    serverUrl: "https://h.example/mcp",
    challenge: {},
    oauth: {},
    fail: createFail("docs"),
    fetch: async (url) => {
      const document = documents.get(String(url));
      return document === undefined ? new Response(null, { status: 404 }) : Response.json(document);
    },
  });
  expect(plan).toMatchObject({
    resource: "https://h.example",
    server: { issuer: "https://login.example" },
    isGuess: false,
  });
});
