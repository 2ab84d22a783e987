import { webServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { findCards, originOfDomain } from "../../src/cards/find-cards.ts";

const cardType = "application/mcp-server-card+json";
const card = (name: string, more: object = {}): object => ({
  name: `com.example/${name}`,
  version: "1.0.0",
  description: `The ${name}`,
  remotes: [{ type: "streamable-http", url: "https://example.com/mcp", supportedProtocolVersions: ["2025-11-25", 7] }],
  ...more,
});

async function site(pages: (origin: string) => Readonly<Record<string, unknown>>) {
  let origin = "";
  const server = await webServer(({ path }, response) => {
    const page = pages(origin)[path];
    if (page === undefined) response.writeHead(404).end();
    else response.end(typeof page === "string" ? page : JSON.stringify(page));
  });
  ({ origin } = server);
  return server;
}

const find = (origin: string) => findCards(origin, { env: {}, signal: new AbortController().signal });

describe("the cards of a domain", () => {
  test("come from its catalog; what is no card is named with its reason", async () => {
    await using server = await site((origin) => ({
      "/.well-known/mcp/catalog.json": {
        specVersion: "draft",
        entries: [
          { type: cardType, url: `${origin}/a` },
          { type: cardType, url: "/b" },
          { type: cardType, url: "http://example.com/plain" },
          { type: cardType, url: `${origin}/gone` },
          { type: cardType, url: `${origin}/empty` },
          { type: "application/pdf", url: `${origin}/c` },
          { type: cardType },
          7,
        ],
      },
      "/a": card("weather"),
      "/b": card("news", { name: "no name" }),
      "/empty": card("empty", { remotes: [] }),
    }));
    const { cards, refused, unread } = await find(server.origin);
    expect(cards).toMatchObject([
      { from: `${server.origin}/a`, server: { name: "com.example/weather" }, protocolVersions: ["2025-11-25"] },
    ]);
    expect(refused).toEqual([
      { from: `${server.origin}/b`, why: "its name is not NAMESPACE/NAME" },
      { from: "http://example.com/plain", why: "its address is not https" },
      { from: `${server.origin}/gone`, why: "there is no card" },
      { from: `${server.origin}/empty`, why: "it names no address of a server" },
    ]);
    expect(unread).toBe(0);
  });

  test("also from the AI catalog and, last, from the old place of one card", async () => {
    await using catalog = await site(() => ({
      "/.well-known/ai-catalog.json": { entries: [{ type: cardType, url: "/a" }] },
      "/a": card("weather"),
    }));
    expect((await find(catalog.origin)).cards).toHaveLength(1);
    await using old = await site(() => ({ "/.well-known/mcp/server-card.json": card("old") }));
    expect((await find(old.origin)).cards).toMatchObject([{ server: { name: "com.example/old" } }]);
    expect(old.seen.map(({ path }) => path)).toEqual([
      "/.well-known/mcp/catalog.json",
      "/.well-known/ai-catalog.json",
      "/.well-known/mcp/server-card",
      "/.well-known/mcp/server-card.json",
    ]);
  });

  test("at most 32 are read, and the rest is counted", async () => {
    await using server = await site(() => ({
      "/.well-known/mcp/catalog.json": {
        entries: Array.from({ length: 50 }, (_, at) => ({ type: cardType, url: `/card/${at}` })),
      },
    }));
    const { refused, unread } = await find(server.origin);
    expect([refused.length, unread, server.seen.length]).toEqual([32, 18, 33]);
  });

  test.each([["nothing"], ["no JSON"], ["a catalog without entries"]])(
    "%s: the error says what to do",
    async (what) => {
      const pages: Readonly<Record<string, unknown>> = {
        nothing: undefined,
        "no JSON": "<html>",
        "a catalog without entries": { entries: "none" },
      };
      await using server = await site(() => ({ "/.well-known/mcp/catalog.json": pages[what] }));
      await expect(find(server.origin)).rejects.toMatchObject({
        code: "not_found",
        next: expect.stringContaining(`fairlead mcp add NAME ${server.origin}/mcp`),
      });
    },
  );

  test("a card at a private address of another network is not read", async () => {
    await using server = await site(() => ({
      "/.well-known/mcp/catalog.json": { entries: [{ type: cardType, url: "https://169.254.169.254/latest" }] },
    }));
    const { cards, refused } = await find(server.origin);
    expect(cards).toEqual([]);
    expect(refused).toMatchObject([{ from: "https://169.254.169.254/latest", why: expect.any(String) }]);
  });
});

test.each([
  ["example.com", "https://example.com"],
  ["mcp.example.co.uk:8443", "https://mcp.example.co.uk:8443"],
  ["127.0.0.1:4100", "http://127.0.0.1:4100"],
  ["localhost:4100", "http://localhost:4100"],
  ["example", undefined],
  ["./server.js", undefined],
  ["-x.com", undefined],
  ["example.com/mcp", undefined],
  ["10.0.0.1", undefined],
  ["a b.com", undefined],
])("%s is the domain %s", (word, origin) => {
  expect(originOfDomain(word)).toBe(origin);
});
