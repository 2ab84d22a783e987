import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { deferred, stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import type { Era, JsonObject } from "@fairlead/wire";
import { expect, test, vi } from "vitest";
import { createClientTokens } from "../../src/tokens/client-tokens.ts";
import { gatewayScene } from "../support/gateway-scene.ts";
import { steppedClock } from "../support/stepped-clock.ts";

const ask = {
  name: "ask",
  arguments: { method: "elicitation/create", params: { message: "?", requestedSchema: { type: "object" } } },
};
const capabilities = { elicitation: { form: {} } };

/** A server that writes notes, and clients that answer its questions with their name. */
async function questionScene(folder: TemporaryFolder) {
  const notes = join(folder.path, "notes");
  const here = await gatewayScene({ servers: { counted: stdioServer("counted", notes) } });
  const questions: string[] = [];
  return {
    questions,
    notes: () => readFileSync(notes, "utf8"),
    /** Resolves when the notes have the text. */
    noted: (text: string) => vi.waitFor(() => expect(readFileSync(notes, "utf8")).toContain(text), { timeout: 30_000 }),
    async client(
      name: string,
      answer?: () => Promise<JsonObject>,
      era: Era = "legacy",
      declared: JsonObject = capabilities,
    ) {
      const client = await here.client({
        era,
        capabilities: declared,
        async answer() {
          questions.push(name);
          return (await answer?.()) ?? { action: "accept", content: { me: name } };
        },
      });
      await client.request("tools/list");
      return client;
    },
    [Symbol.asyncDispose]: () => here[Symbol.asyncDispose](),
  };
}

const late = { ...ask, arguments: { ...ask.arguments, late: true } };

test("clients stop sharing a server with its first question, so that no question may be another client's", async () => {
  await using folder = await temporaryFolder();
  await using here = await questionScene(folder);
  const asked = deferred<void>();
  const answer = deferred<JsonObject>();
  const one = await here.client("one", () => {
    asked.resolve();
    return answer.promise;
  });
  const other = await here.client("other");
  const first = one.request("tools/call", ask);
  await asked.promise;
  // The first question is still open on the shared connection.
  expect(JSON.stringify(await other.request("tools/call", ask))).toContain("other");
  answer.resolve({ action: "decline" });
  expect(JSON.stringify(await first)).toContain("decline");
  expect(JSON.stringify(await one.request("tools/call", ask))).toContain("decline");
  expect(here.notes().match(/start/g)).toHaveLength(3);
});

const beforeNext = { ...ask, arguments: { ...ask.arguments, beforeNext: true } };
const echo = { name: "echo", arguments: { text: "hello" } };

test("a question stays open when another call of the same client ends first", async () => {
  await using folder = await temporaryFolder();
  await using here = await questionScene(folder);
  const answer = deferred<JsonObject>();
  const client = await here.client("one", () => answer.promise);
  const asking = client.request("tools/call", beforeNext);
  await here.noted("call ask");
  expect(JSON.stringify(await client.request("tools/call", echo))).toContain("hello");
  answer.resolve({ action: "accept", content: { me: "still here" } });
  expect(JSON.stringify(await asking)).toContain("still here");
  expect(here.questions).toEqual(["one"]);
});

test("a modern client is asked although the call that ends first could not have asked", async () => {
  await using folder = await temporaryFolder();
  await using here = await questionScene(folder);
  const client = await here.client("one", undefined, "modern");
  const asking = client.request("tools/call", beforeNext);
  await here.noted("call ask");
  expect(JSON.stringify(await client.request("tools/call", echo))).toContain("hello");
  expect(JSON.stringify(await asking)).toContain("one");
  expect(here.questions).toEqual(["one"]);
});

test("the only client that declares elicitation is asked, although another has an open call", async () => {
  await using folder = await temporaryFolder();
  await using here = await questionScene(folder);
  const one = await here.client("one");
  const mute = await here.client("mute", undefined, "legacy", {});
  const asking = one.request("tools/call", beforeNext);
  await here.noted("call ask");
  expect(JSON.stringify(await mute.request("tools/call", echo))).toContain("hello");
  expect(JSON.stringify(await asking)).toContain("one");
  expect(here.questions).toEqual(["one"]);
});

test("a question that may be of two clients is refused with the reason, and the next try works", async () => {
  await using folder = await temporaryFolder();
  await using here = await questionScene(folder);
  const one = await here.client("one");
  const other = await here.client("other");
  const asking = one.request("tools/call", beforeNext);
  await here.noted("call ask");
  await other.request("tools/call", echo);
  expect(JSON.stringify(await asking)).toContain(
    "cannot tell which of its clients should answer; each client has a connection of its own from now on, so the same request works if it is sent again",
  );
  expect(JSON.stringify(await one.request("tools/call", ask))).toContain("one");
  expect(here.questions).toEqual(["one"]);
});

test("after a client has cancelled a call, the question of another client's call reaches that client", async () => {
  await using folder = await temporaryFolder();
  await using here = await questionScene(folder);
  const one = await here.client("one");
  const other = await here.client("other");
  const stop = new AbortController();
  const cancelled = one.request("tools/call", { ...ask, arguments: {} }, { signal: stop.signal });
  await here.noted("call ask");
  stop.abort();
  await expect(cancelled).rejects.toThrow();
  expect(JSON.stringify(await other.request("tools/call", ask))).toContain("other");
  expect(here.questions).toEqual(["other"]);
});

test("what a cancelled call still asks reaches no other client, and the server gets an error", async () => {
  await using folder = await temporaryFolder();
  await using here = await questionScene(folder);
  const one = await here.client("one");
  const other = await here.client("other");
  const [stop, otherStop] = [new AbortController(), new AbortController()];
  // The other client's call is open on the same connection when the cancelled one asks.
  const open = Promise.allSettled([other.request("tools/call", late, { signal: otherStop.signal })]);
  await here.noted("call ask");
  const mine = { ...late, arguments: { ...late.arguments, me: 1 } };
  const cancelled = Promise.allSettled([one.request("tools/call", mine, { signal: stop.signal })]);
  await here.noted('"me":1');
  stop.abort();
  await here.noted("late ");
  expect(here.notes()).toMatch(/late .*"code":-32603.*cannot tell which of its clients should answer/);
  otherStop.abort();
  await Promise.all([open, cancelled]);
  expect(here.questions).toEqual([]);
  expect(here.notes().match(/start/g)).toHaveLength(1);
});

test.each(["legacy", "modern"] as const)(
  "a server that a list started for one %s client is stopped when idle",
  async (era) => {
    const hostClock = steppedClock();
    const fairlead = { servers: { counted: { share: "client" } } };
    await using here = await gatewayScene({ servers: { counted: stdioServer("counted") }, fairlead, hostClock });
    const status = (): unknown => here.gateway.status().servers.find(({ name }) => name === "counted")?.status;
    const client = await here.client({ era });
    expect(JSON.stringify(await client.request("tools/list"))).toContain("echo");
    expect(status()).toBe("connected");
    await hostClock.fire(300_000);
    await vi.waitFor(() => expect(status()).toBe("disconnected"), { timeout: 30_000 });
  },
);

test("a client that asks for a server's description at its own address lets the server stop when idle", async () => {
  const hostClock = steppedClock();
  const fairlead = { servers: { counted: { share: "client" } } };
  await using here = await gatewayScene({ servers: { counted: stdioServer("counted") }, fairlead, hostClock });
  await here.client({ era: "legacy", only: "counted" });
  await hostClock.fire(300_000);
  await vi.waitFor(() =>
    expect(here.gateway.status().servers).toContainEqual({ name: "counted", status: "disconnected" }),
  );
});

interface Reply {
  readonly status: number;
  readonly body: string;
  readonly session: unknown;
}

function post(url: string, headers: Record<string, string>, body: unknown): Promise<Reply> {
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
        const { statusCode: status = 0, headers } = response;
        let text = "";
        response
          .setEncoding("utf8")
          .on("data", (more: string) => {
            text += more;
          })
          .on("end", () => resolve({ status, body: text, session: headers["mcp-session-id"] }));
      },
    );
    sent.on("error", reject).end(JSON.stringify(body));
  });
}

async function status(...sent: Parameters<typeof post>): Promise<number> {
  return (await post(...sent)).status;
}

const prefix = "io.modelcontextprotocol/";
const greetings = {
  legacy: {
    headers: {},
    body: {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } },
    },
  },
  modern: {
    headers: { "mcp-protocol-version": "2026-07-28", "mcp-method": "server/discover" },
    body: {
      jsonrpc: "2.0",
      id: 1,
      method: "server/discover",
      params: { _meta: { [`${prefix}protocolVersion`]: "2026-07-28", [`${prefix}clientCapabilities`]: {} } },
    },
  },
};

test.for(["legacy", "modern"] as const)(
  "the first %s request of a gateway to a server that is unknown or not allowed gets 404, the reason and no session",
  async (era) => {
    await using folder = await temporaryFolder();
    const counted = stdioServer("counted", join(folder.path, "notes"));
    await using here = await gatewayScene({
      servers: { counted, secret: counted },
      fairlead: { clients: { tester: { servers: ["counted"] } } },
    });
    const { headers, body } = greetings[era];
    for (const name of ["nothing", "secret", "not%20%0A"]) {
      const reply = await post(`${here.url}/${name}`, headers, body);
      expect(reply).toMatchObject({ status: 404, session: undefined });
      expect(JSON.parse(reply.body)).toMatchObject({
        error: { message: expect.stringMatching(/^server ".*" is not configured, .* run: fairlead mcp list$/) },
      });
    }
    expect(here.gateway.activity()).toBe(0);
    expect((await post(`${here.url}/counted`, headers, body)).status).toBe(200);
  },
);

test("over HTTP a token tells the client; without one nothing is reached and no process started", async () => {
  await using folder = await temporaryFolder();
  const notes = join(folder.path, "notes");
  const tokens = createClientTokens(join(folder.path, "state"));
  await using here = await gatewayScene({
    servers: { counted: stdioServer("counted", notes) },
    fairlead: { clients: { limited: { tools: ["counted.echo"] } } },
    listen: { tokens },
  });
  const initialize = greetings.legacy.body;
  const limited = await tokens.create("limited");
  const wrong: readonly Record<string, string>[] = [
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
