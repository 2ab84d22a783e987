import { join } from "node:path";
import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createClientTokens } from "../src/tokens/client-tokens.ts";
import { gatewayScene } from "./support/gateway-scene.ts";

const cardType = "application/mcp-server-card+json";

test("with tokens, the cards of the gateway and of its servers need one", async () => {
  await using folder = await temporaryFolder();
  const tokens = createClientTokens(join(folder.path, "tokens"));
  const authorization = `Bearer ${await tokens.create("claude-code")}`;
  await using scene = await gatewayScene({ servers: { one: stdioServer("well-behaved") }, listen: { tokens } });
  const read = (path: string, init: RequestInit = { headers: { authorization } }): Promise<Response> =>
    fetch(scene.url + path, init);

  expect(await read("/server-card", {}).then(({ status }) => status)).toBe(401);
  expect(await read("/one/server-card", {}).then(({ status }) => status)).toBe(401);
  const all = await read("/server-card");
  expect([all.status, all.headers.get("content-type")]).toEqual([200, cardType]);
  expect(await all.json()).toMatchObject({
    name: "io.github.fairlead/fairlead",
    version: "0.0.0",
    remotes: [
      {
        type: "streamable-http",
        url: scene.url,
        supportedProtocolVersions: expect.arrayContaining(["2026-07-28", "2025-11-25"]),
      },
    ],
  });
  expect(await (await read("/one/server-card")).json()).toMatchObject({
    name: "local.fairlead/one",
    remotes: [{ url: `${scene.url}/one` }],
  });
  expect((await read("/two/server-card")).status).toBe(404);
  expect((await read("/server-card", { method: "POST", headers: { authorization } })).status).toBe(405);
  // A card never says what a server can do.
  expect(JSON.stringify(await (await read("/one/server-card")).json())).not.toContain("tools");
});

test("with fairlead.publicServerCards, every program may read them", async () => {
  await using folder = await temporaryFolder();
  const tokens = createClientTokens(join(folder.path, "tokens"));
  await using scene = await gatewayScene({
    servers: { one: stdioServer("well-behaved") },
    fairlead: { publicServerCards: true },
    listen: { tokens },
  });
  const statuses = await Promise.all(
    ["/server-card", "/one/server-card", "/two/server-card", ""].map(
      async (path) => (await fetch(scene.url + path)).status,
    ),
  );
  expect(statuses).toEqual([200, 200, 404, 401]);
});
