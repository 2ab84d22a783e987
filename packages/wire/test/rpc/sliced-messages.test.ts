/** Long messages are parsed in slices on every transport: order, values and limits stay the same. */
import { Buffer } from "node:buffer";
import { Readable } from "node:stream";
import { scaled } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { connect } from "../../src/connect.ts";
import { readEvents } from "../../src/http/event-stream.ts";
import { createReadBudget } from "../../src/rpc/read-budget.ts";
import { decodeInSlices } from "../../src/shapes/decode.ts";
import { createLineSplitter } from "../../src/stdio/lines.ts";
import { createMessageLines } from "../../src/stdio/message-lines.ts";
import { defaultLimits, defaultTimes } from "../../src/target.ts";
import { legacyWeb, openLegacy } from "../support/legacy-web.ts";
import { failure } from "../support/memory-server.ts";
import { clientInfo } from "../support/modern-session.ts";
import { openServer, script, stays } from "../support/stdio-server.ts";
import { sendJson, startEvents } from "../support/web-server.ts";

/** Small values in a message that is long enough to be parsed in slices: with `--long` 1.5 MB of them. */
const count = scaled(500_000, 60_000);
const listOf = (length: number): string => `[${"{},".repeat(length)}0]`;
const dense = listOf(count);
const programDense = `const dense = "[" + "{},".repeat(${count}) + "0]";`;
/** Empty objects that need more memory than the values of one message may take. */
const heavy = listOf(1_100_000);
const tooHeavy = { code: "too_large", message: "the values of a message take more than 64 MB of memory" };
const result = (id: unknown, value: string): string =>
  `{"jsonrpc":"2.0","id":${String(id)},"result":{"list":${value}}}`;

describe("stdio", () => {
  test("a long message gives other code a turn again and again while it is decoded and parsed", async () => {
    const messages: unknown[] = [];
    let turns = 0;
    const { takeInSlices } = createMessageLines({
      events: { message: (message) => void messages.push(message), diagnostic: () => {}, dropped: () => {} },
      notAServer: () => {},
    });
    const text = Buffer.from(`{"list":${listOf(700_000)},"text":"${"ä".repeat(1_000_000)}"}`);
    const pieces = Array.from({ length: Math.ceil(text.length / 65_536) }, (_, at) =>
      text.subarray(at * 65_536, (at + 1) * 65_536),
    );
    await takeInSlices(pieces, {
      nextTurn: async () => {
        turns += 1;
      },
    });
    expect(turns).toBeGreaterThanOrEqual(20);
    expect(messages.map((message) => JSON.stringify(message) === text.toString())).toEqual([true]);
  });

  test("the lines after a long message wait for it, in their order", async () => {
    const code = `${programDense} process.stdout.write('{"list":' + dense + '}\\n{"after":1}\\n{"again":' + dense + '}\\n{"after":2}\\n{"after":3}\\n'); ${stays}`;
    await using server = await openServer(script(code));
    expect((await server.arrived(5)).map((message) => Object.keys(message)[0])).toEqual([
      "list",
      "after",
      "again",
      "after",
      "after",
    ]);
  });

  test("a long message that a server writes before it exits arrives before the exit, with the lines after it", async () => {
    // Parsing takes longer than the time after which a server that has exited counts as silent.
    const long = `"[" + "{},".repeat(500_000) + "0]"`;
    const more = `'{"more":"' + "x".repeat(1000) + '"}\\n'`;
    const code = `process.stdout.write('{"list":' + ${long} + '}\\n' + (${more}).repeat(100) + '{"last":1}');`;
    await using server = await openServer(script(code));
    expect(await server.closed).toMatchObject({ code: "exited" });
    const keys = server.messages.map((message) => Object.keys(message)[0]);
    expect(keys).toEqual(["list", ...Array.from({ length: 100 }, () => "more"), "last"]);
  });

  test("a long line that is not JSON is reported like a short one", async () => {
    const code = `console.log("{" + "x".repeat(200_000)); console.log("y".repeat(200_000)); console.log("{}"); ${stays}`;
    await using server = await openServer(script(code));
    await server.arrived(1);
    expect(server.diagnostics).toEqual([
      expect.stringContaining('a line on stdout is not a message: "{xxx'),
      expect.stringContaining('a line on stdout is not a message: "yyy'),
    ]);
  });

  test("a response whose values take too much memory fails its request alone", async () => {
    const code = `
      const heavy = "[" + "{},".repeat(1_100_000) + "0]";
      require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
        const { id, method } = JSON.parse(line);
        const result = method === "initialize" ? '{"protocolVersion":"2025-11-25","capabilities":{}}' : method === "x" ? heavy : "{}";
        if (id !== undefined) process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":' + result + "}\\n");
      });`;
    const session = await connect(script(code), { clientInfo, era: "legacy" });
    expect(await failure(session.request("x"))).toMatchObject({ ...tooHeavy, evidence: { step: "x" } });
    expect(await session.request("y")).toEqual({});
    await session.close();
  });

  test("the splitter holds the next lines while its reader is busy with a long one", () => {
    const taken: string[] = [];
    let isBusy = false;
    const lines = createLineSplitter({
      limit: 1e9,
      line: (text) => taken.push(text),
      slicedLine(pieces) {
        taken.push(`long ${Buffer.concat(pieces).length}`);
        isBusy = true;
      },
      tooLong: () => taken.push("too long"),
      isBusy: () => isBusy,
    });
    lines.push(Buffer.alloc(200_000, "x"));
    lines.push(Buffer.from("x\none\ntwo\nth"));
    expect(taken).toEqual(["long 200001"]);
    isBusy = false;
    expect(lines.resume()).toBe(true);
    lines.push(Buffer.from("ree\n"));
    expect(taken).toEqual(["long 200001", "one", "two", "three"]);
  });
});

describe("HTTP", () => {
  test.each(["json", "events"])("a long response arrives whole: %s", async (kind) => {
    await using server = await legacyWeb({
      onPost({ id }, response) {
        if (kind === "json") return sendJson(response, result(id, dense));
        startEvents(response);
        response.end(`data: {"jsonrpc":"2.0","method":"notifications/x"}\n\ndata: ${result(id, dense)}\n\n`);
      },
    });
    const session = await openLegacy(server);
    expect((await session.request("x"))["list"]).toHaveLength(count + 1);
    await session.close();
  });

  test.each(["json", "events"])("a response whose values take too much memory fails: %s", async (kind) => {
    await using server = await legacyWeb({
      onPost({ id }, response) {
        if (kind === "json") return sendJson(response, result(id, heavy));
        startEvents(response);
        response.end(`data: ${result(id, heavy)}\n\n`);
      },
    });
    const session = await openLegacy(server);
    expect(await failure(session.request("x"))).toMatchObject(tooHeavy);
    await session.close();
  });

  test("an event waits for the event before it", async () => {
    const taken: string[] = [];
    const budget = createReadBudget({ limits: defaultLimits, times: defaultTimes, onFlooding: () => undefined });
    await readEvents(
      Readable.from([Buffer.from("data: long\n\ndata: two\n\ndata: three\n\n")]),
      { maxBytes: 1000, budget },
      {
        event({ data }) {
          if (data !== "long") return void taken.push(data);
          return new Promise((resolve) => setImmediate(resolve)).then(() => void taken.push(data));
        },
        retry: () => undefined,
      },
    );
    expect(taken).toEqual(["long", "two", "three"]);
  });
});

test("bytes that are decoded in slices give the same text as all bytes at once", async () => {
  const text = "plain äöü 漢字 😀 ".repeat(20);
  for (const size of [1, 2, 3, 5, 7, 64]) {
    for (const bytes of [Buffer.from(text), Buffer.concat([Buffer.from("é").subarray(0, 1), Buffer.from(text)])]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      );
      expect(await decodeInSlices(pieces)).toBe(bytes.toString());
      expect(pieces).toEqual([]);
    }
  }
});
