/** Runs the SDK's own client over a session that is already open. */

import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { Client, ProtocolError } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { connect } from "../packages/wire/src/index.ts";
import { sdkTransport } from "./sdk-transport.mjs";

const info = { name: "sdk-transport-test", version: "1.0.0" };

function target(program, ...args) {
  const path = fileURLToPath(new URL(`../packages/wire/test/programs/${program}`, import.meta.url));
  const { PATH = "" } = process.env;
  return { kind: "stdio", command: process.execPath, args: [path, ...args], env: { PATH }, cwd: process.cwd() };
}

/** Creates a new client on a session that earlier clients may have used. Closing the client leaves the session open. */
async function clientOn(session) {
  const client = new Client(info, { versionNegotiation: { mode: "auto" } });
  await client.connect(sdkTransport(session));
  onTestFinished(() => client.close());
  return client;
}

async function openPair(where) {
  const session = await connect(where, { clientInfo: info });
  onTestFinished(() => session.close());
  return { session, client: await clientOn(session) };
}

describe.each([{ era: "legacy" }, { era: "modern" }])("on a session of the $era era", ({ era }) => {
  const sent = [];
  let session;

  beforeAll(async () => {
    session = await connect(target("contract-server.mjs", "stdio", era), {
      clientInfo: info,
      onMessage: (direction, { method }) => direction === "sent" && sent.push(method),
    });
  });
  afterAll(() => session.close());

  test("a client connects without a word to the server", async () => {
    const before = sent.length;
    const client = await clientOn(session);
    expect(sent.slice(before)).toEqual([]);
    expect([client.getProtocolEra(), client.getNegotiatedProtocolVersion()]).toEqual([era, session.protocolVersion]);
    expect(client.getServerVersion()).toEqual(session.serverInfo);
    expect(client.getServerCapabilities()).toEqual(session.capabilities);
    expect(client.getInstructions()).toBe(session.instructions);
  });

  test("lists, calls and errors go through", async () => {
    const client = await clientOn(session);
    const { tools } = await client.listTools();
    const added = await client.callTool({ name: "add", arguments: { a: 1, b: 2 } });
    const refused = client.callTool({ name: "refuse" });
    expect(tools).toHaveLength(14);
    expect(added.structuredContent).toEqual({ sum: 3 });
    await expect(refused).rejects.toSatisfy(
      (error) => error instanceof ProtocolError && error.code === -31999 && error.message.includes("not today"),
    );
  });

  test("progress goes through, with the last step", async () => {
    const client = await clientOn(session);
    const steps = [];
    await client.callTool({ name: "count", arguments: { to: 3 } }, { onprogress: (step) => steps.push(step) });
    expect(steps.map(({ progress }) => progress)).toEqual([1, 2, 3]);
  });

  test("a request that the client gives up is cancelled at the server", async () => {
    const client = await clientOn(session);
    const label = randomUUID();
    const controller = new AbortController();
    const options = { signal: controller.signal, onprogress: () => controller.abort() };
    await expect(client.callTool({ name: "wait", arguments: { label } }, options)).rejects.toThrow();
    const { content } = await client.callTool({ name: "cancelled", arguments: { label } });
    expect(content).toEqual([{ type: "text", text: `${label} was cancelled` }]);
  });

  test("closing the client leaves the session open", async () => {
    const client = await clientOn(session);
    const waiting = client.callTool({ name: "wait", arguments: { label: randomUUID() } });
    const ended = expect(waiting).rejects.toThrow();
    await client.close();
    await ended;
    expect(await session.request("tools/list")).toHaveProperty("tools");
    await expect(client.callTool({ name: "fail" })).rejects.toThrow();
  });

  test("the end of the session ends the client", async () => {
    const pair = await openPair(target("skills-server.mjs", era));
    const closed = new Promise((resolve) => {
      pair.client.onclose = resolve;
    });
    await pair.session.close();
    await closed;
    await expect(sdkTransport(pair.session).send({ jsonrpc: "2.0", id: 1, method: "tools/list" })).rejects.toThrow(
      "the connection is closed",
    );
  });

  test("an extension of the SDK runs on it", async () => {
    const pair = await openPair(target("skills-server.mjs", era));
    const skills = new SkillsClient(pair.client);
    const { skills: listed } = await skills.list();
    const [knots] = listed;
    expect(listed).toHaveLength(1);
    expect(await skills.read(knots)).toMatchObject({ verified: true, body: "\nOver, under, through.\n" });
  });

  if (era === "legacy")
    test("notifications of the server reach the client", async () => {
      const client = await clientOn(session);
      const changed = new Promise((resolve) => {
        client.setNotificationHandler("notifications/tools/list_changed", () => resolve());
      });
      await client.callTool({ name: "change" });
      await changed;
    });
  else
    test("a subscription is refused: it belongs to the session", async () => {
      const client = await clientOn(session);
      await expect(client.listen({ toolsListChanged: true })).rejects.toThrow("opened on the session");
    });
});
