import { EventEmitter, once } from "node:events";
import { programServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { WireError } from "../../src/errors.ts";
import { type HttpListenerOptions, listenHttp } from "../../src/serve/http-listener.ts";
import { serveClient } from "../../src/serve/served-session.ts";
import { openServerRelay } from "../../src/serve/server-relay.ts";
import type { JsonObject } from "../../src/session.ts";
import type { Target } from "../../src/target.ts";

/** Sends messages through a relay; `next` is the next message of the server. */
async function relayTo(target: Target) {
  const received: JsonObject[] = [];
  const waiting: ((message: JsonObject) => void)[] = [];
  const seen: string[] = [];
  const relay = await openServerRelay(target, {
    onMessage: (direction, { method, id }) => seen.push(`${direction} ${String(method ?? id)}`),
    onReceived(message) {
      const next = waiting.shift();
      if (next) next(message);
      else received.push(message);
    },
  });
  const next = async () => received.shift() ?? new Promise<JsonObject>((resolve) => waiting.push(resolve));
  const ask = (id: unknown, method: string, params: JsonObject = {}) => {
    relay.send({ jsonrpc: "2.0", id, method, params });
    return next();
  };
  return { relay, ask, seen };
}

test("a program gets the client's messages as they are, and each one is reported", async () => {
  const { command, args } = programServer("well-behaved");
  const { relay, ask, seen } = await relayTo({ kind: "stdio", command, args, env: {}, cwd: process.cwd() });
  expect(await ask("mine", "tools/list")).toMatchObject({ id: "mine", result: { tools: [{ name: "echo" }] } });
  expect(await ask(2, "nothing")).toMatchObject({ id: 2, error: { code: -32601 } });
  expect(seen).toEqual(["sent tools/list", "received mine", "sent nothing", "received 2"]);
  await relay.close();
  expect(await relay.closed).toBeUndefined();
});

test("over HTTP a session is kept, and a modern request carries its headers", async () => {
  const listener = await listenHttp({
    eras: ["legacy", "modern"],
    onClient: (open, era) =>
      void serveClient(open, () => ({
        async request(method) {
          if (method === "fail") throw new WireError("rpc", "no", { rpc: { code: -32601, data: 1 } });
          return method === "initialize" ? { protocolVersion: "2025-11-25" } : { era };
        },
      })),
  });
  const { relay, ask } = await relayTo({ kind: "http", url: listener.url, headers: {} });
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  expect(await ask(1, "tools/call", { name: "x", _meta })).toMatchObject({ id: 1, result: { era: "modern" } });
  expect(await ask(2, "fail", { _meta })).toMatchObject({ id: 2, error: { code: -32601, message: "no", data: 1 } });
  await relay.close();

  const legacy = await relayTo({ kind: "http", url: listener.url, headers: {} });
  expect(await legacy.ask(1, "initialize")).toMatchObject({ id: 1, result: {} });
  expect(await legacy.ask(2, "tools/list")).toMatchObject({ id: 2, result: { era: "legacy" } });
  await legacy.relay.close();
  await listener.close();
});

test("over HTTP the headers of arguments are passed on, and a cancelled modern request closes its stream", async () => {
  const seen: unknown[] = [];
  const happened = new EventEmitter();
  const [arrived, gone] = [once(happened, "arrived"), once(happened, "gone")];
  const onClient: HttpListenerOptions["onClient"] = (open) =>
    void open({
      message(message, _size, _about, headers) {
        seen.push([message["method"], headers]);
        happened.emit("arrived");
        return undefined;
      },
      closed: () => void happened.emit("gone"),
      largest: () => 1000,
      dropped() {},
      diagnostic() {},
    });
  const listener = await listenHttp({ eras: ["modern"], onClient });
  const { relay } = await relayTo({ kind: "http", url: listener.url, headers: {} });
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { name: "x", arguments: { region: "north" }, _meta };
  const headers = { "mcp-param-region": "north" };
  relay.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params }, headers);
  await arrived;
  relay.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
  await gone;
  expect(seen).toEqual([["tools/call", headers]]);
  await relay.close();
  await listener.close();
});

test("a request that gets lost is answered with an error, so that the client does not wait", async () => {
  const { relay, ask } = await relayTo({ kind: "http", url: "http://127.0.0.1:1/mcp", headers: {} });
  expect(await ask(1, "initialize")).toMatchObject({ id: 1, error: { code: -32603 } });
  await relay.close();
});
