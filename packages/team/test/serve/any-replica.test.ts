/** Any replica serves any request: clients of both eras through a balancer without stickiness. */

import { postgresVersion, type TestDatabase, testDatabase } from "@fairlead/test-servers";
import type { Era, JsonObject, Session } from "@fairlead/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RoundRobin, roundRobin } from "../support/round-robin.ts";
import { conformanceServer, type ReplicaProcess, type TeamScene, teamScene } from "../support/team-scene.ts";

const capabilities = { elicitation: {}, sampling: {}, roots: {} };
const answers: Readonly<Record<string, (params: JsonObject) => JsonObject>> = {
  "elicitation/create": () => ({ action: "accept", content: { name: "Ada", color: "blue", username: "ada" } }),
  "sampling/createMessage": () => ({ role: "assistant", model: "none", content: { type: "text", text: "sampled" } }),
  "roots/list": () => ({ roots: [{ uri: "file:///root", name: "root" }] }),
};

describe.runIf(postgresVersion() !== undefined)("any replica", () => {
  let database: TestDatabase;
  let upstream: Awaited<ReturnType<typeof conformanceServer>>;
  let scene: TeamScene;
  let replicas: readonly ReplicaProcess[];
  let balancer: RoundRobin;

  beforeAll(async () => {
    const found = await testDatabase("any replica serves any request");
    if (found === undefined) throw new Error("no PostgreSQL");
    database = found;
    upstream = await conformanceServer();
    const suite = { httpUrl: upstream.url };
    scene = await teamScene(database, {
      servers: { suite },
      fairlead: { servers: { suite: { roots: true } } },
    });
    replicas = await Promise.all([scene.start(), scene.start()]);
    balancer = await roundRobin(replicas.map(({ origin }) => origin));
  });
  afterAll(async () => {
    await balancer[Symbol.asyncDispose]();
    await scene[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  const open = async (user: string, era: Era, more: Parameters<TeamScene["open"]>[3] = {}): Promise<Session> =>
    scene.open(`${balancer.origin}/mcp/suite`, await scene.tokenOf(user), era, {
      capabilities,
      onRequest: async (method, params) => answers[method]?.(params) ?? {},
      ...more,
    });
  const textOf = async (session: Session, name: string, args: JsonObject = {}): Promise<string> => {
    const { content } = await session.request("tools/call", { name, arguments: args });
    return (content as { readonly text: string }[]).map(({ text }) => text).join();
  };

  for (const era of ["legacy", "modern"] as const) {
    it(`answers a ${era} client, whose requests go to all in turn`, async () => {
      const before = [...balancer.counts];
      const session = await open(`${era}-calls`, era);
      for (let each = 0; each < 6; each += 1)
        expect(await textOf(session, "test_simple_text")).toContain("A line of text");
      await session.close();
      expect(balancer.counts.every((count, at) => count > (before[at] ?? 0))).toBe(true);
    });

    it(`asks a ${era} client in the middle of a call, and takes its answer at another one`, async () => {
      const session = await open(`${era}-asked`, era);
      for (let each = 0; each < 4; each += 1) {
        expect(await textOf(session, "test_input_required_result_elicitation")).toContain("Hello, Ada!");
        expect(await textOf(session, "test_input_required_result_multi_round")).toContain("Ada likes");
      }
      await session.close();
    });
  }

  it("knows what a legacy client has set at another one", async () => {
    const messages: unknown[] = [];
    const session = await open("levels", "legacy", {
      onNotification: (method, params) => void (method === "notifications/message" && messages.push(params)),
    });
    await session.request("logging/setLevel", { level: "emergency" });
    // A replica that has the session already is told a moment later.
    const heard = async (): Promise<number> => {
      messages.length = 0;
      for (let each = 0; each < 4; each += 1) await textOf(session, "test_tool_with_logging");
      return messages.length;
    };
    await expect.poll(heard).toBe(0);
    await session.close();
  });

  it("knows that a legacy client has ended its session at another one", async () => {
    const authorization = `Bearer ${await scene.tokenOf("ends")}`;
    const headers = {
      authorization,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const post = (replica: number, body: object, more: Record<string, string> = {}) =>
      fetch(replicas[replica]?.urlOf("suite") ?? "", {
        method: "POST",
        headers: { ...headers, ...more },
        body: JSON.stringify({ jsonrpc: "2.0", ...body }),
      });
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } };
    const first = await post(0, { id: 1, method: "initialize", params });
    const session = { "mcp-session-id": first.headers.get("mcp-session-id") ?? "" };
    await first.text();
    expect((await post(1, { id: 2, method: "ping" }, session)).status).toBe(200);
    const other = { authorization: `Bearer ${await scene.tokenOf("other")}` };
    expect((await post(0, { id: 3, method: "ping" }, { ...session, ...other })).status).toBe(404);
    expect((await post(1, { id: 3, method: "ping" }, { ...session, ...other })).status).toBe(404);
    const ended = await fetch(replicas[1]?.urlOf("suite") ?? "", {
      method: "DELETE",
      headers: { ...headers, ...session },
    });
    expect(ended.status).toBe(200);
    await expect.poll(async () => (await post(0, { id: 4, method: "ping" }, session)).status).toBe(404);
    expect((await post(1, { id: 5, method: "ping" }, session)).status).toBe(404);
  });

  it("continues a session after the replica that began it was killed", async () => {
    const doomed = await scene.start();
    const survivor = replicas[0] as ReplicaProcess;
    const both = await roundRobin([doomed.origin, survivor.origin]);
    const session = await scene.open(`${both.origin}/mcp/suite`, await scene.tokenOf("killed"), "legacy");
    await textOf(session, "test_simple_text");
    await both[Symbol.asyncDispose]();
    doomed.signal("SIGKILL");
    await doomed.ended;
    const port = Number(new URL(both.origin).port);
    const later = await roundRobin([survivor.origin], port);
    expect(await textOf(session, "test_simple_text")).toContain("A line of text");
    await session.close();
    await later[Symbol.asyncDispose]();
  });
});
