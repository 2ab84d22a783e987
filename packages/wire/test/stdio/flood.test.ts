import { Writable } from "node:stream";
import { scaled } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { openRpc } from "../../src/rpc/rpc.ts";
import { createOutbox } from "../../src/stdio/outbox.ts";
import { openStdio } from "../../src/stdio/stdio.ts";
import { defaultLimits, defaultTimes } from "../../src/target.ts";
import { collected } from "../support/collected.ts";
import { legacyWeb, openLegacy } from "../support/legacy-web.ts";
import { failure, memoryServer, rpcTo } from "../support/memory-server.ts";
import { script } from "../support/stdio-server.ts";
import { startEvents } from "../support/web-server.ts";

test("pings without end from a server that does not read are a handful of words, and its answer is heard", async () => {
  const pings = scaled(1_000_000);
  const code = `
    const ping = '{"jsonrpc":"2.0","id":"p","method":"ping"}\\n';
    for (let left = ${pings}; left > 0; left -= 1000) process.stdout.write(ping.repeat(1000));
    process.stdout.write('{"jsonrpc":"2.0","id":1,"result":{"ok":true}}\\n');
    setInterval(() => {}, 1000);`;
  const limits = { ...defaultLimits, unsentBytes: 100_000, unsolicitedBurst: Number.POSITIVE_INFINITY };
  const times = { ...defaultTimes, endGrace: 0, termGrace: 100 };
  const diagnostics: string[] = [];
  const rpc = await openRpc(
    openStdio(script(code), { limits, times }),
    { limits, times, oneStream: true, onDiagnostic: (text) => void diagnostics.push(text) },
    new AbortController().signal,
  );
  expect(await rpc.request("x")).toEqual({ ok: true });
  await rpc.close();
  expect(diagnostics[0]).toMatch(/^a response was lost: the server reads too slowly: \d+ bytes wait/);
  expect(diagnostics.length).toBeLessThan(10);
});

test("requests that find no room to send share one refusal, until there is room again", async () => {
  const taken = collected<() => void>();
  const stdin = new Writable({ write: (_chunk, _encoding, done) => taken.add(done) });
  const outbox = createOutbox(stdin, { messageBytes: 1000, unsentBytes: 100, deadline: 60_000 });
  const message = { text: "x".repeat(100) };
  const first = outbox.send(message);
  const refusal = await failure(outbox.send(message));
  expect(refusal).toMatchObject({ code: "send_blocked", evidence: { unsent: true } });
  expect(await failure(outbox.send(message))).toBe(refusal);
  (await taken.reached(1))[0]?.();
  await first;
  const second = outbox.send(message);
  expect(await failure(outbox.send(message))).not.toBe(refusal);
  (await taken.reached(2))[1]?.();
  await second;
});

test("requests without a handler are counted, not told one by one", async () => {
  const server = memoryServer();
  await using opened = await rpcTo(server, { onRequest: () => new Promise(() => {}) });
  const { diagnostics } = opened;
  server.say({ jsonrpc: "2.0", id: 1, method: "held" });
  for (let i = 0; i < 500; i += 1)
    server.say({ jsonrpc: "2.0", id: 1, method: `again ${i}` }, { jsonrpc: "2.0", id: null, method: `odd ${i}` });
  expect(diagnostics).toEqual([
    "the server sent again 0 twice with the same id",
    "the server sent the request odd 0, which was ignored",
    "the server sent again 9 twice with the same id (10 times by now)",
    "the server sent the request odd 9, which was ignored (10 times by now)",
    "the server sent again 99 twice with the same id (100 times by now)",
    "the server sent the request odd 99, which was ignored (100 times by now)",
  ]);
});

test("events that are not JSON are counted, not told one by one", async () => {
  await using server = await legacyWeb({
    onPost({ id }, response) {
      startEvents(response);
      response.end(`${"data: {\n\n".repeat(500)}data: {"jsonrpc":"2.0","id":${String(id)},"result":{"ok":1}}\n\n`);
    },
  });
  const diagnostics: string[] = [];
  const session = await openLegacy(server, { onDiagnostic: (text) => void diagnostics.push(text) });
  expect(await session.request("x")).toEqual({ ok: 1 });
  await session.close();
  expect(diagnostics).toHaveLength(3);
});
