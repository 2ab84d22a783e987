import { expect, test } from "vitest";
import { createServerFacts, type FactSource } from "../../../src/host/catalogs/server-facts.ts";
import type { Connection } from "../../../src/server/connection.ts";

const source = (name: string, instructions?: string): FactSource =>
  ({
    catalog: instructions === undefined ? {} : { instructions },
    peer: { era: "legacy", serverInfo: { name, version: "1" } },
    capabilities: { tools: {} },
  }) as unknown as FactSource;
const factsOf = (name: string) => ({ era: "legacy", serverInfo: { name, version: "1" }, capabilities: { tools: {} } });

/** A client that is connected as this server, or as one that has not been discovered. */
const client = (name: string, status: string, isDiscovered = true): Connection => {
  const { catalog, peer, capabilities } = source(name, "live");
  const filteredCatalog = isDiscovered ? { catalog } : undefined;
  return { state: { status, peer }, filteredCatalog, capabilities } as unknown as Connection;
};

test("a connected server speaks for itself, and any other is known from its last connection", () => {
  const clients = new Map([
    ["live", client("now", "connected")],
    ["gone", client("now", "disconnected")],
    ["new", client("now", "connected", false)],
  ]);
  const facts = createServerFacts((server) => clients.get(server));
  for (const server of ["live", "gone", "new", "cached"]) facts.remember(server, source("then"));
  expect(["live", "gone", "new", "cached", "unknown"].map((server) => facts.serverFacts(server))).toEqual([
    { ...factsOf("now"), instructions: "live" },
    factsOf("then"),
    factsOf("then"),
    factsOf("then"),
    undefined,
  ]);
  expect(["live", "cached", "unknown"].map((server) => facts.peerOf(server)?.serverInfo.name)).toEqual([
    "now",
    "then",
    undefined,
  ]);
});

test("a server without a peer or capabilities has no facts", () => {
  const facts = createServerFacts(() => undefined);
  const { peer, capabilities, ...rest } = source("s");
  facts.remember("a", { ...rest, peer } as FactSource);
  facts.remember("b", { ...rest, capabilities } as FactSource);
  expect([facts.serverFacts("a"), facts.serverFacts("b")]).toEqual([undefined, undefined]);
});

test("what is forgotten is known no more, and neither is that it asks back", () => {
  const facts = createServerFacts(() => undefined);
  for (const server of ["a", "b"]) {
    facts.remember(server, source(server));
    facts.setAsksBack(server);
  }
  facts.forget("a");
  expect(["a", "b"].map((server) => [facts.peerOf(server) !== undefined, facts.asksBack(server)])).toEqual([
    [false, false],
    [true, true],
  ]);
});
