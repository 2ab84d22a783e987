import { once } from "node:events";
import { expect, test } from "vitest";
import { connect, WireError } from "../../src/index.ts";
import { Exchange } from "../../src/rpc/exchange.ts";
import { stoppedTime } from "../support/simulated-time.ts";
import { result, sendJson, webServer } from "../support/web-server.ts";

const greeting = { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "slow", version: "1" } };

function exchange(): Exchange {
  return new Exchange(
    "x",
    {},
    0,
    1_000,
    () => {},
    () => {},
  );
}

test("an exchange that is broken off tells its listeners once, and is cancelled from then on", () => {
  const heard: string[] = [];
  const broken = exchange();
  broken.onAbort(() => heard.push("first"))();
  broken.onAbort(() => heard.push("second"));
  expect(broken.aborted).toBe(false);
  broken.abort(new WireError("timeout", "too long"));
  expect([broken.aborted, heard]).toEqual([true, ["second"]]);
});

test("a listener that stops does not take away a later one", () => {
  const heard: string[] = [];
  const broken = exchange();
  const stop = broken.onAbort(() => heard.push("first"));
  broken.onAbort(() => heard.push("second"));
  stop();
  broken.abort(new WireError("timeout", "too long"));
  expect(heard).toEqual(["second"]);
});

test("a signal that is asked for after the end is aborted already", () => {
  const broken = exchange();
  broken.abort(new WireError("timeout", "too long"));
  expect(broken.signal.aborted).toBe(true);
});

test("a request over HTTP that takes too long leaves no connection behind", async () => {
  const time = stoppedTime();
  let gone: Promise<unknown> | undefined;
  await using server = await webServer((request, response) => {
    const { method } = JSON.parse(request.body || "{}") as { method?: string };
    if (method === "initialize") sendJson(response, result(request, greeting));
    else if (method === "tools/call") {
      gone = once(response, "close");
      time.advance(50);
    } else response.writeHead(request.method === "GET" ? 405 : 202).end();
  });
  const target = { kind: "http", url: server.url, headers: {} } as const;
  const session = await connect(target, { clientInfo: { name: "test", version: "1" }, era: "legacy", time });
  const call = session.request("tools/call", { name: "slow" }, { timeout: 50 });
  await expect(call).rejects.toMatchObject({ code: "timeout" });
  expect(gone).toBeDefined();
  await gone;
  await session.close();
});
