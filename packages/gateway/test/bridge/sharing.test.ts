import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import { createClientTokens } from "../../src/tokens/client-tokens.ts";
import { deferred } from "../support/deferred.ts";
import { gatewayScene } from "../support/gateway-scene.ts";

const ask = {
  name: "ask",
  arguments: { method: "elicitation/create", params: { message: "?", requestedSchema: { type: "object" } } },
};
const capabilities = { elicitation: { form: {} } };

test("a question that may be any client's goes to none of them, and then each client has its own process", async () => {
  await using folder = await temporaryFolder();
  const notes = join(folder.path, "notes");
  await using here = await gatewayScene({ servers: { counted: stdioServer("counted", notes) } });
  const asked = deferred<void>();
  const answer = deferred<JsonObject>();
  const one = await here.client({
    era: "legacy",
    capabilities,
    answer: async () => {
      asked.resolve();
      return answer.promise;
    },
  });
  const other = await here.client({
    era: "legacy",
    capabilities,
    answer: async () => ({ action: "accept", content: { me: "other" } }),
  });
  await one.request("tools/list");
  const first = one.request("tools/call", ask);
  await asked.promise;
  // Two clients have open calls now: whose question is it?
  const refused = await other.request("tools/call", ask);
  expect(JSON.stringify(refused)).toContain("cannot tell which of its clients should answer");
  answer.resolve({ action: "decline" });
  expect(JSON.stringify(await first)).toContain("decline");
  expect(JSON.stringify(await other.request("tools/call", ask))).toContain("other");
  expect(JSON.stringify(await one.request("tools/call", ask))).toContain("decline");
  expect(readFileSync(notes, "utf8").match(/start/g)).toHaveLength(3);
});

test("the seventeenth call of a client waits for its turn, and holds up no other client", async () => {
  await using folder = await temporaryFolder();
  const notes = join(folder.path, "notes");
  const tokens = createClientTokens(join(folder.path, "state"));
  await using here = await gatewayScene({ servers: { counted: stdioServer("counted", notes) }, listen: { tokens } });
  const headersOf = async (name: string) => ({ authorization: `Bearer ${await tokens.create(name)}` });
  const answers: ((result: JsonObject) => void)[] = [];
  let onAsked = (): void => {};
  const greedy = await here.client({
    era: "legacy",
    capabilities,
    headers: await headersOf("greedy"),
    answer: () =>
      new Promise((resolve) => {
        answers.push(resolve);
        onAsked();
      }),
  });
  const asked = (count: number): Promise<void> =>
    new Promise((resolve) => {
      onAsked = () => answers.length >= count && resolve();
      onAsked();
    });
  const runs = Array.from({ length: 17 }, () => greedy.request("tools/call", ask));
  await asked(16);
  const calls = () => readFileSync(notes, "utf8").match(/call ask/g)?.length;
  expect(calls()).toBe(16);
  const other = await here.client({ era: "modern", headers: await headersOf("other") });
  const echo = { name: "echo", arguments: { text: "hello" } };
  expect(await other.request("tools/call", echo)).toMatchObject({ content: [{ text: "hello" }] });
  answers.shift()?.({ action: "decline" });
  await asked(16);
  expect(calls()).toBe(17);
  for (const answer of answers) answer({ action: "decline" });
  await Promise.all(runs);
});

function status(url: string, headers: Record<string, string>, body: unknown): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          connection: "close",
          ...headers,
        },
      },
      (response) => {
        response.resume().on("end", () => resolve(response.statusCode ?? 0));
      },
    );
    sent.on("error", reject).end(JSON.stringify(body));
  });
}

test("over HTTP a token tells the client; without one nothing is reached and no process started", async () => {
  await using folder = await temporaryFolder();
  const notes = join(folder.path, "notes");
  const tokens = createClientTokens(join(folder.path, "state"));
  await using here = await gatewayScene({
    servers: { counted: stdioServer("counted", notes) },
    fairlead: { clients: { limited: { tools: ["counted.echo"] } } },
    listen: { tokens },
  });
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } },
  };
  const limited = await tokens.create("limited");
  const wrong = [
    {},
    { authorization: "Bearer wrong" },
    { authorization: `Basic ${limited}` },
    { authorization: `Bearer ${limited}`, host: "evil.example" },
    { authorization: `Bearer ${limited}`, origin: "https://evil.example" },
  ];
  const statuses: number[] = [];
  for (const headers of wrong) statuses.push(await status(here.url, headers, initialize));
  expect(statuses).toEqual([401, 401, 401, 403, 403]);
  const authorization = `Bearer ${limited}`;
  for (const path of ["/other", "/mcpx", "/mcp//", "/mcp/counted/echo", "/mcp/%zz"])
    expect([path, await status(here.url.replace("/mcp", path), { authorization }, initialize)]).toEqual([path, 404]);
  expect(() => readFileSync(notes)).toThrow();

  const headers = { authorization };
  // The last two addresses end with a slash: `/mcp/` and `/mcp/counted/`.
  for (const [era, path] of [
    ["legacy", {}],
    ["modern", {}],
    ["legacy", { only: "" }],
    ["modern", { only: "counted/" }],
  ] as const) {
    const client = await here.client({ era, headers, ...path });
    const { tools } = await client.request("tools/list");
    expect((tools as readonly JsonObject[]).map(({ name }) => name)).toEqual(["echo"]);
  }
  await tokens.revoke("limited");
  expect(await status(here.url, headers, initialize)).toBe(401);
});
