/** One replica as a process: who enters, what is recorded, how it starts and ends. */

import { postgresVersion, type TestDatabase, testDatabase } from "@fairlead/test-servers";
import { connect } from "@fairlead/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApiKey } from "../../src/auth/api-key-verifier.ts";
import type { TeamStore } from "../../src/store/store.ts";
import { beginModern } from "../support/raw-client.ts";
import {
  conformanceServer,
  type ReplicaProcess,
  sharedStore,
  type TeamScene,
  teamScene,
} from "../support/team-scene.ts";

describe.runIf(postgresVersion() !== undefined)("a replica of the team gateway", () => {
  let database: TestDatabase;
  let upstream: Awaited<ReturnType<typeof conformanceServer>>;
  let scene: TeamScene;
  let replica: ReplicaProcess;
  let store: TeamStore;

  beforeAll(async () => {
    const found = await testDatabase("replicas of the team gateway");
    if (found === undefined) throw new Error("no PostgreSQL");
    database = found;
    upstream = await conformanceServer();
    scene = await teamScene(database, {
      servers: { suite: { httpUrl: upstream.url }, local: { command: "node" } },
      team: { metrics: "127.0.0.1:0" },
    });
    replica = await scene.start();
    store = await sharedStore(database, scene);
  });
  afterAll(async () => {
    await store.close();
    await scene[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  it("answers whether it lives and whether it is ready, without a token", async () => {
    const live = await fetch(`${replica.origin}/livez`);
    expect(live.status).toBe(200);
    expect(await replica.ready()).toMatchObject({
      status: 200,
      body: { ready: true, reasons: [], replica: 1, config: [{ tenant: 1, version: 0 }] },
    });
    expect((await fetch(replica.metricsUrl ?? "")).status).toBe(200);
  });

  it("sends requests without a valid token to its metadata", async () => {
    const refused = await fetch(replica.urlOf("suite"), { method: "POST", body: "{}" });
    expect(refused.status).toBe(401);
    const metadata = "/.well-known/oauth-protected-resource/mcp/suite";
    expect(refused.headers.get("www-authenticate")).toContain(`https://mcp.example${metadata}`);
    const document = await fetch(`${replica.origin}${metadata}`);
    expect(await document.json()).toMatchObject({
      resource: "https://mcp.example/mcp/suite",
      authorization_servers: [scene.issuer.url],
    });
    const token = await scene.tokenOf("ada", { aud: "https://other.example" });
    await expect(scene.open(replica.urlOf(), token, "modern")).rejects.toThrow();
  });

  for (const era of ["legacy", "modern"] as const)
    it(`stores the rows of calls of a ${era} client before their answers`, async () => {
      const user = `${era}-ada`;
      const session = await scene.open(replica.urlOf("suite"), await scene.tokenOf(user), era);
      const { tools } = await session.request("tools/list", {});
      expect(tools).toContainEqual(expect.objectContaining({ name: "test_simple_text" }));
      const result = await session.request("tools/call", { name: "test_simple_text", arguments: {} });
      const rows = await store.ledger.read({ tenant: 1, principal: `${scene.issuer.url}#${user}`, limit: 10 });
      expect(result).toMatchObject({ content: [{ type: "text" }] });
      expect(rows).toMatchObject([
        { server: "suite", tool: "test_simple_text", outcome: "ok", client: "claude", decision: "allow", replica: 1 },
      ]);
      await expect(session.request("tools/call", { name: "none", arguments: {} })).rejects.toThrow("no such tool");
      await session.close();
    });

  it("counts requests by server, tool, decision and outcome for Prometheus, and names no user", async () => {
    const session = await scene.open(replica.urlOf("suite"), await scene.tokenOf("counted"), "modern");
    await session.request("tools/call", { name: "test_simple_text", arguments: {} });
    await session.close();
    const response = await fetch(replica.metricsUrl ?? "");
    const text = await response.text();
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(text).toMatch(
      /^mcp_server_operation_duration_seconds_count\{method="tools\/call",tool="test_simple_text",server="suite",decision="allow",outcome="ok"\} \d+$/m,
    );
    expect(text).toContain("mcp_client_operation_duration_seconds_bucket");
    expect(text).not.toMatch(/counted|claude/);
  });

  it("offers no stdio servers", async () => {
    await expect(scene.open(replica.urlOf("local"), await scene.tokenOf("ada"), "modern")).rejects.toThrow();
    const session = await scene.open(replica.urlOf(), await scene.tokenOf("ada"), "modern");
    expect(await session.request("tools/call", { name: "test_simple_text", arguments: {} })).toBeDefined();
    await session.close();
  });

  it("takes API keys, and refuses them when they are revoked", async () => {
    const owner = { tenant: 1, principal: "key:ci" };
    const { key, text } = createApiKey({ owner, scopes: ["mcp:call"], role: "user", networks: [], createdBy: "iss#a" });
    await store.apiKeys.add(key);
    const call = async () => {
      const session = await scene.open(replica.urlOf("suite"), text, "modern");
      try {
        return await session.request("tools/call", { name: "test_simple_text", arguments: {} });
      } finally {
        await session.close();
      }
    };
    expect(await call()).toMatchObject({ content: [{ type: "text" }] });
    await store.apiKeys.revoke(1, key.id);
    await expect
      .poll(() =>
        call().then(
          () => "answered",
          () => "refused",
        ),
      )
      .toBe("refused");
  });

  it("logs lines of JSON without names of users, tokens and arguments", async () => {
    const token = await scene.tokenOf("secret-name");
    const session = await connect(
      { kind: "http", url: replica.urlOf("suite"), headers: { authorization: `Bearer ${token}` } },
      { era: "modern", clientInfo: { name: "test", version: "1" }, capabilities: {} },
    );
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    await session.request("tools/call", {
      name: "test_simple_text",
      arguments: { secret: "hidden-word" },
      _meta: { traceparent },
    });
    await session.close();
    const trace_id = "0af7651916cd43dd8448eb211c80319c";
    await expect.poll(() => replica.log).toContainEqual(expect.objectContaining({ event: "request", trace_id }));
    const text = JSON.stringify(replica.log);
    for (const secret of ["secret-name", "hidden-word", token]) expect(text).not.toContain(secret);
    expect(replica.words).toEqual([]);
  });

  it("finishes open calls when it gets SIGTERM, and exits with 0", async () => {
    const other = await scene.start();
    const session = await scene.open(other.urlOf("suite"), await scene.tokenOf("ada"), "modern");
    const answer = session.request("tools/call", { name: "test_tool_with_progress", arguments: {} });
    await expect.poll(async () => (await store.replicas.list()).length).toBe(2);
    const stream = await beginModern(other.urlOf("suite"), await scene.tokenOf("bob"), "subscriptions/listen", {
      notifications: { toolsListChanged: true },
    });
    other.signal("SIGTERM");
    // A stream that only waits for news ends with its result.
    expect(await stream.text()).toContain('"resultType":"complete"');
    expect(await answer).toMatchObject({ content: [{ type: "text" }] });
    await session.close();
    expect(await other.ended).toBe(0);
    expect(other.words).toEqual([]);
    expect((await store.replicas.list()).map(({ id }) => id)).toEqual([1]);
  });
});
