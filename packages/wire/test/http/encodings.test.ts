import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { legacyWeb, openLegacy } from "../support/legacy-web.ts";
import { failure } from "../support/memory-server.ts";

type Written = (text: string) => string | Buffer;

test.each<[string, Written]>([
  ["Identity", (text) => text],
  ["gzip", gzipSync],
  ["X-GZIP", gzipSync],
  ["deflate", deflateSync],
  ["BR", brotliCompressSync],
])("an answer in the encoding %s is read", async (encoding, written) => {
  await using server = await legacyWeb({
    onPost: ({ id }, response) =>
      void response
        .writeHead(200, { "content-type": "application/json", "content-encoding": encoding })
        .end(written(JSON.stringify({ jsonrpc: "2.0", id, result: { ok: 1 } }))),
  });
  const session = await openLegacy(server);
  expect(await session.request("x")).toEqual({ ok: 1 });
  await session.close();
});

test.each<[string, string, string | Buffer]>([
  ["gzip", "application/json", "no such thing"],
  ["gzip", "application/json", gzipSync("{}").subarray(0, 15)],
  ["deflate", "text/event-stream", "no such thing"],
  ["br", "application/json", "no such thing"],
  ["zstd", "application/json", "whatever"],
  ["zstd", "text/event-stream", "whatever"],
  ["rot13", "application/json", "whatever"],
])(
  "an answer that cannot be decoded is a bad message that names its encoding: %s, %s",
  async (encoding, type, body) => {
    await using server = await legacyWeb({
      onPost: (_, response) =>
        void response.writeHead(200, { "content-type": type, "content-encoding": encoding }).end(body),
    });
    const session = await openLegacy(server);
    const error = await failure(session.request("x"));
    expect(error).toMatchObject({ code: "bad_message", evidence: { step: "x" } });
    expect(error.message).toContain(`: ${encoding}`);
    await session.close();
  },
);

test("a refusal stays one, also when its words cannot be decoded", async () => {
  for (const [status, code] of [
    [401, "unauthorized"],
    [500, "http_status"],
  ] as const) {
    await using server = await legacyWeb({
      onPost: (_, response) => void response.writeHead(status, { "content-encoding": "zstd" }).end("whatever"),
    });
    const session = await openLegacy(server);
    expect(await failure(session.request("x"))).toMatchObject({ code, evidence: { httpStatus: status } });
    await session.close();
  }
});
