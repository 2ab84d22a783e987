import { stdioServer } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GatewayScene, gatewayScene } from "../support/gateway-scene.ts";
import { answerTo, envelope, type Sent } from "./raw-client.ts";

/** What the official suite checks of a server, in the cases in which the gateway itself answers or translates. */
describe.each(["--legacy-only", "--modern-only"])("to a server with %s, a modern request", (flag) => {
  let here: GatewayScene;
  beforeAll(async () => {
    here = await gatewayScene({ servers: { fx: stdioServer("conformance", flag) } });
    // The headers of a call are checked with the schemas that were listed.
    await send({ method: "tools/list" });
  });
  afterAll(() => here[Symbol.asyncDispose]());

  const send = (sent: Sent) => answerTo(`${here.url}/fx`, sent);

  test.for<[string, Sent, number, number]>([
    ["without an envelope", { method: "server/discover", params: { _meta: {} } }, 400, -32602],
    [
      "without client capabilities",
      { method: "server/discover", params: { _meta: { ...envelope(), [key("clientCapabilities")]: undefined } } },
      400,
      -32602,
    ],
    [
      "of an unknown version",
      {
        method: "server/discover",
        params: { _meta: { ...envelope(), [key("protocolVersion")]: "v999" } },
        headers: { "mcp-protocol-version": "v999" },
      },
      400,
      -32022,
    ],
    [
      "with another version in its header",
      { method: "tools/list", headers: { "mcp-protocol-version": "2025-06-18" } },
      400,
      -32020,
    ],
    [
      "with another method in its header",
      { method: "tools/list", headers: { "mcp-method": "prompts/list" } },
      400,
      -32020,
    ],
    ["with another name in its header", { ...call("test_simple_text"), headers: { "mcp-name": "other" } }, 400, -32020],
    ["without the header of an argument", call("test_region_header", { region: "north" }), 400, -32020],
    ["for a method that the era removed", { method: "initialize" }, 404, -32601],
    [
      "for another method that the era removed",
      { method: "resources/subscribe", params: { uri: "test://a" } },
      404,
      -32601,
    ],
    ["for ping", { method: "ping" }, 404, -32601],
    ["for an unknown method", { method: "unknown/method" }, 404, -32601],
    ["for a tool that asks what the client does not declare", call("test_streaming_elicitation"), 400, -32021],
    ["for an unknown resource", { method: "resources/read", params: { uri: "test://nowhere" } }, 200, -32602],
    ["for an unknown tool", call("no_such_tool"), 200, -32602],
    ["with a cursor from elsewhere", { method: "tools/list", params: { cursor: "x" } }, 200, -32602],
  ])("%s is refused", async ([, sent, status, code]) => {
    expect(await send(sent)).toMatchObject({ status, last: { id: sent.id ?? 1, error: { code } } });
  });

  test("is told which versions are supported, and which capability a call needs", async () => {
    const _meta = { ...envelope(), [key("protocolVersion")]: "v999" };
    const old = await send({ method: "tools/list", params: { _meta }, headers: { "mcp-protocol-version": "v999" } });
    expect(old.last).toMatchObject({ error: { data: { supported: ["2026-07-28"], requested: "v999" } } });
    expect((await send(call("test_streaming_elicitation"))).last).toMatchObject({
      error: { data: { requiredCapabilities: { elicitation: {} } } },
    });
  });

  test("gets results that say how long they may be cached", async () => {
    const reads: Sent[] = [
      { method: "server/discover" },
      { method: "tools/list" },
      { method: "prompts/list" },
      { method: "resources/list" },
      { method: "resources/templates/list" },
      { method: "resources/read", params: { uri: "test://static-text" } },
    ];
    for (const read of reads)
      expect((await send(read)).last).toMatchObject({
        result: { resultType: "complete", ttlMs: 0, cacheScope: "private" },
      });
  });

  test("gets no log message that it has not asked for", async () => {
    expect((await send(call("test_logging_tool"))).messages).toHaveLength(1);
    const _meta = { ...envelope(), [key("logLevel")]: "debug" };
    const asked = await send({ ...call("test_logging_tool"), params: { ...call("test_logging_tool").params, _meta } });
    expect(asked.messages).toMatchObject([{ method: "notifications/message" }, { result: { resultType: "complete" } }]);
  });

  test("goes on although a later one was given up while its server waited for an answer", async () => {
    const _meta = envelope({ elicitation: {} });
    const ask = async (name: string, more: object = {}) =>
      (await send({ method: "tools/call", params: { name, arguments: {}, _meta, ...more } })).last.result ?? {};
    const answered = ({ inputRequests, requestState }: JsonObject) => {
      const [question = ""] = Object.keys(inputRequests ?? {});
      const content = { name: "Ada", color: "blue" };
      return { inputResponses: { [question]: { action: "accept", content } }, requestState };
    };
    const rounds = "test_input_required_result_multi_round";
    const first = await ask(rounds);
    // No person answers this question.
    await ask("test_input_required_result_elicitation");
    const second = await ask(rounds, answered(first));
    expect(await ask(rounds, answered(second))).toMatchObject({ content: [{ text: "Ada likes blue." }] });
  });

  test("with a changed state is refused, and the server's question is not lost for others", async () => {
    const _meta = envelope({ elicitation: {} });
    const params = { name: "test_input_required_result_tampered_state", arguments: {}, _meta };
    const { result } = (await send({ method: "tools/call", params })).last;
    expect(result).toMatchObject({ resultType: "input_required", requestState: expect.any(String) });
    const [question = ""] = Object.keys(result?.["inputRequests"] ?? {});
    const inputResponses = { [question]: { action: "accept", content: { ok: true } } };
    const again = (requestState: unknown) =>
      send({ method: "tools/call", params: { ...params, inputResponses, requestState } });
    expect((await again(`${String(result?.["requestState"])}-changed`)).last).toMatchObject({
      error: { code: -32602 },
    });
    expect((await again(result?.["requestState"])).last).toMatchObject({ result: { resultType: "complete" } });
  });
});

test("a legacy session: its errors, its end, and streams for a client that prefers them", async () => {
  await using here = await gatewayScene({ servers: { fx: stdioServer("conformance", "--modern-only") } });
  const url = `${here.url}/fx`;
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "0" } };
  const opened = await answerTo(url, { era: "legacy", method: "initialize", params });
  expect(opened.last).toMatchObject({
    result: { protocolVersion: "2025-06-18", serverInfo: { name: "conformance-server" } },
  });
  const headers = { "mcp-session-id": opened.session ?? "", "mcp-protocol-version": "2025-06-18" };
  const send = (sent: Sent) => answerTo(url, { era: "legacy", headers, ...sent });
  expect((await send({ method: "ping" })).last).toMatchObject({ result: {} });
  expect((await send({ method: "resources/read", params: { uri: "test://nowhere" } })).last).toMatchObject({
    error: { code: -32002 },
  });
  const { last, type } = await send({
    method: "tools/list",
    headers: { ...headers, accept: "text/event-stream, application/json" },
  });
  expect(type).toBe("text/event-stream");
  expect(last.result).not.toHaveProperty("resultType");
  expect(last.result).not.toHaveProperty("ttlMs");
  expect((await fetch(url, { method: "DELETE", headers })).status).toBe(200);
  expect((await send({ method: "ping" })).status).toBe(404);
});

function key(name: string): string {
  return `io.modelcontextprotocol/${name}`;
}

function call(name: string, args: object = {}): Sent & { readonly params: object } {
  return { method: "tools/call", params: { name, arguments: args } };
}
