/** The SDK's own client on a session that is open already. */

import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { Client, type Progress, ProtocolError } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { describe, expect, test } from "vitest";
import { connect, type Era, type Session, type StdioTarget, WireError } from "../src/index.ts";
import { sdkTransport } from "../src/sdk-transport.ts";

const info = { name: "sdk-transport-test", version: "1.0.0" };

function target(program: string, ...args: string[]): StdioTarget {
  const path = fileURLToPath(new URL(`programs/${program}`, import.meta.url));
  const { PATH = "" } = process.env;
  return { kind: "stdio", command: process.execPath, args: [path, ...args], env: { PATH }, cwd: process.cwd() };
}

interface Pair extends AsyncDisposable {
  readonly session: Session;
  readonly client: Client;
  readonly sent: string[];
}

async function openPair(where: StdioTarget): Promise<Pair> {
  const sent: string[] = [];
  const session = await connect(where, {
    clientInfo: info,
    onMessage: (direction, { method }) => direction === "sent" && sent.push(String(method)),
  });
  sent.length = 0;
  const client = new Client(info, { versionNegotiation: { mode: "auto" } });
  await client.connect(sdkTransport(session));
  return { session, client, sent, [Symbol.asyncDispose]: () => session.close() };
}

describe.each<{ era: Era }>([{ era: "legacy" }, { era: "modern" }])("on a session of the $era era", ({ era }) => {
  const contract = (): Promise<Pair> => openPair(target("contract-server.mjs", "stdio", era));

  test("a client connects without a word to the server", async () => {
    await using pair = await contract();
    const { client, session, sent } = pair;
    expect(sent).toEqual([]);
    expect([client.getProtocolEra(), client.getNegotiatedProtocolVersion()]).toEqual([era, session.protocolVersion]);
    expect(client.getServerVersion()).toEqual(session.serverInfo);
    expect(client.getServerCapabilities()).toEqual(session.capabilities);
    expect(client.getInstructions()).toBe(session.instructions);
  });

  test("lists, calls and errors go through", async () => {
    await using pair = await contract();
    const { tools } = await pair.client.listTools();
    const added = await pair.client.callTool({ name: "add", arguments: { a: 1, b: 2 } });
    const refused = pair.client.callTool({ name: "refuse" });
    expect(tools).toHaveLength(14);
    expect(added.structuredContent).toEqual({ sum: 3 });
    await expect(refused).rejects.toSatisfy(
      (error) => error instanceof ProtocolError && error.code === -31999 && error.message.includes("not today"),
    );
  });

  test("progress goes through, with the last step", async () => {
    await using pair = await contract();
    const steps: Progress[] = [];
    await pair.client.callTool({ name: "count", arguments: { to: 3 } }, { onprogress: (step) => steps.push(step) });
    expect(steps.map(({ progress }) => progress)).toEqual([1, 2, 3]);
  });

  test("a request that the client gives up is cancelled at the server", async () => {
    await using pair = await contract();
    const label = randomUUID();
    const controller = new AbortController();
    const options = { signal: controller.signal, onprogress: () => controller.abort() };
    await expect(pair.client.callTool({ name: "wait", arguments: { label } }, options)).rejects.toThrow();
    const { content } = await pair.client.callTool({ name: "cancelled", arguments: { label } });
    expect(content).toEqual([{ type: "text", text: `${label} was cancelled` }]);
  });

  test("closing the client leaves the session open", async () => {
    await using pair = await contract();
    const { client, session } = pair;
    const waiting = client.callTool({ name: "wait", arguments: { label: randomUUID() } });
    const ended = expect(waiting).rejects.toThrow();
    await client.close();
    await ended;
    expect(await session.request("tools/list")).toHaveProperty("tools");
    await expect(client.callTool({ name: "fail" })).rejects.toThrow();
  });

  test("the end of the session ends the client", async () => {
    await using pair = await contract();
    const { client, session } = pair;
    const closed = new Promise<void>((resolve) => {
      client.onclose = resolve;
    });
    await session.close();
    await closed;
    await expect(sdkTransport(session).send({ jsonrpc: "2.0", id: 1, method: "tools/list" })).rejects.toBeInstanceOf(
      WireError,
    );
  });

  test("an extension of the SDK runs on it", async () => {
    await using pair = await openPair(target("skills-server.mjs", era));
    const skills = new SkillsClient(pair.client);
    const { skills: listed } = await skills.list();
    const [knots] = listed;
    expect(listed).toHaveLength(1);
    expect(knots && (await skills.read(knots))).toMatchObject({ verified: true, body: "\nOver, under, through.\n" });
  });
});

test("notifications of the server reach the client", async () => {
  await using pair = await openPair(target("contract-server.mjs", "stdio", "legacy"));
  const changed = new Promise<void>((resolve) => {
    pair.client.setNotificationHandler("notifications/tools/list_changed", () => resolve());
  });
  await pair.client.callTool({ name: "change" });
  await changed;
});

test("a subscription is refused: it belongs to the session", async () => {
  await using pair = await openPair(target("contract-server.mjs", "stdio", "modern"));
  await expect(pair.client.listen({ toolsListChanged: true })).rejects.toThrow("opened on the session");
});
