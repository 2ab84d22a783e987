import { notePromise, type Random, randomFrom, scaled, seed } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { negotiate } from "../../src/eras/negotiate.ts";
import { WireError } from "../../src/errors.ts";
import type { ChannelEvents } from "../../src/rpc/channel.ts";
import { openRpc, type Rpc } from "../../src/rpc/rpc.ts";
import type { JsonObject } from "../../src/session.ts";
import { createLineSplitter } from "../../src/stdio/lines.ts";
import { createMessageLines } from "../../src/stdio/message-lines.ts";
import { defaultLimits, defaultTimes } from "../../src/target.ts";

const requests = 6;
const runs = scaled(50_000, 300);
const patience = 600_000;
const exit = new WireError("exited", "the server exited with code 1", { exitCode: 1 });

/** What a server says in a conversation: each answer names the request that it is for. */
function recordedLines(random: Random): string[] {
  const lines: unknown[] = [];
  for (let id = 1; id <= requests; id += 1) {
    lines.push({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: id, progress: 1 } });
    const text = "ünïcödé 漢字 🧵 \u2028 \\n".repeat(random(4));
    const answer = { jsonrpc: "2.0", id: random(4) === 0 ? String(id) : id, result: { for: id, text } };
    if (random(6) === 0) lines.push([{ jsonrpc: "2.0", method: "notifications/message", params: {} }, answer]);
    else lines.push(answer);
    if (random(4) === 0) lines.push({ jsonrpc: "2.0", id: `s${id}`, method: "roots/list" });
    if (random(4) === 0) lines.push({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    if (random(6) === 0) lines.push({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "parse error" } });
  }
  return lines.map((line) => JSON.stringify(line));
}

const spare = [
  '"',
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "null",
  "-1",
  "1e9",
  '"__proto__":',
  "\\",
  "\0",
  "é",
  " ",
  "method",
  "id",
  "9",
];

/** A line with something in it changed, or nothing if that made it an answer to another request. */
function damaged(line: string, random: Random): string | undefined {
  let text = line;
  for (let changes = random(3); changes >= 0; changes -= 1) {
    const at = random(text.length + 1);
    const until = Math.min(text.length, at + random(8));
    text = text.slice(0, at) + (random(2) === 0 ? "" : (spare[random(spare.length)] ?? "")) + text.slice(until);
  }
  return text.includes("\n") || lies(text) ? undefined : text;
}

function lies(text: string): boolean {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return false;
  }
  const members = (Array.isArray(parsed) ? parsed : [parsed]) as (JsonObject | null)[];
  return members.some((member) => {
    const result = member?.["result"] as JsonObject | null | undefined;
    return member?.["id"] !== undefined && JSON.stringify(member["id"]).replaceAll('"', "") !== String(result?.["for"]);
  });
}

/** The bytes of all lines, cut at random. */
function chunksOf(lines: readonly string[], random: Random): Buffer[] {
  const bytes = Buffer.from(lines.map((line) => `${line}${random(8) === 0 ? "\r\n" : "\n"}`).join(""));
  const chunks: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const length = random(5) === 0 ? 1 + random(3) : 1 + random(400);
    chunks.push(bytes.subarray(start, start + length));
    start += length;
  }
  return chunks;
}

interface Pipe {
  readonly rpc: Rpc;
  readonly say: (chunk: Buffer) => void;
  readonly hangUp: (cause: WireError) => void;
}

async function openPipe(onSent: (message: JsonObject) => void = () => {}): Promise<Pipe> {
  const channel: { events?: ChannelEvents } = {};
  const rpc = await openRpc(
    async (events) => {
      channel.events = events;
      return {
        cancelBy: "message",
        send: async (message) => onSent(message),
        setProtocolVersion: () => {},
        close: async () => {},
      };
    },
    { limits: defaultLimits, times: defaultTimes, onRequest: async () => ({ roots: [] }), onNotification: () => {} },
    new AbortController().signal,
  );
  const { events } = channel;
  if (events === undefined) throw new Error("the channel was not opened");
  const lines = createLineSplitter({
    limit: defaultLimits.messageBytes,
    line: createMessageLines({ events, notAServer: (cause) => events.closed(cause) }).take,
    tooLong: () => events.closed(undefined),
  });
  return {
    rpc,
    say: (chunk) => lines.push(chunk),
    hangUp(cause) {
      lines.end();
      events.closed(cause);
    },
  };
}

interface Outcome {
  readonly results: (JsonObject | WireError)[];
  readonly progress: number[];
}

/** Asks as many questions as there are, lets the server say this, and hangs up. */
async function converse(chunks: readonly Buffer[]): Promise<Outcome> {
  const { rpc, say, hangUp } = await openPipe();
  const progress: number[] = [];
  const asked = Array.from({ length: requests }, (_, index) =>
    rpc
      .request("tools/call", {}, { onProgress: () => void progress.push(index + 1) })
      .catch((error: unknown) => error as WireError),
  );
  for (const chunk of chunks) say(chunk);
  hangUp(exit);
  return { results: await Promise.all(asked), progress };
}

test(`however the bytes arrive, every answer reaches its request (${runs} times)`, { timeout: patience }, async () => {
  const start = seed();
  const random = randomFrom(start);
  for (let run = 0; run < runs; run += 1) {
    const { results, progress } = await converse(chunksOf(recordedLines(random), random));
    const reached = results.map((result) => (result as JsonObject)["for"]);
    if (reached.join() !== "1,2,3,4,5,6" || progress.join() !== "1,2,3,4,5,6")
      expect.fail(`seed ${start}, run ${run}: ${JSON.stringify({ reached, progress })}`);
  }
  notePromise({
    group: "messages",
    promise: "however bytes are split, every response reaches its request",
    tries: runs,
    failures: 0,
    load: `${requests} requests open at once`,
  });
});

test(`whatever is damaged on the way, no answer reaches another request (${runs} times)`, {
  timeout: patience,
}, async () => {
  const start = seed();
  const random = randomFrom(start);
  let answered = 0;
  for (let run = 0; run < runs; run += 1) {
    const lines = recordedLines(random).flatMap((line) => {
      const other = random(2) === 0 ? undefined : damaged(line, random);
      return other === undefined ? [line] : random(2) === 0 ? [other] : [other, line];
    });
    const { results } = await converse(chunksOf(lines, random));
    results.forEach((result, index) => {
      if (result instanceof Error) return;
      answered += 1;
      if (result["for"] !== index + 1)
        expect.fail(`seed ${start}, run ${run}: request ${index + 1} got ${JSON.stringify(result)}`);
    });
  }
  // Most answers survive: the test is about answers, not about silence.
  expect(answered).toBeGreaterThan(runs * 2);
  notePromise({
    group: "messages",
    promise: "whatever is damaged in messages, no response reaches another request",
    tries: runs,
    failures: 0,
    load: `${requests} requests open at once; ${answered} of ${runs * requests} answered`,
  });
});

test("a server that dies at any byte of the handshake is reported, or its handshake was whole", async () => {
  const answers = [
    { jsonrpc: "2.0", id: 1, error: { code: -32601, message: "unbekännt" } },
    { jsonrpc: "2.0", id: 2, result: { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "ü" } } },
  ];
  const bytes = Buffer.from(answers.map((answer) => `${JSON.stringify(answer)}\n`).join(""));
  const firstLine = bytes.indexOf("\n") + 1;
  const reported = new Map<string, number>();
  for (let end = 0; end <= bytes.length; end += 1) {
    let asked: () => void = () => {};
    const askedToInitialize = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const { rpc, say, hangUp } = await openPipe(({ method }) => method === "initialize" && asked());
    const options = { clientInfo: { name: "a", version: "1" } };
    const { signal } = new AbortController();
    const opening = negotiate({ rpc, options, times: defaultTimes, signal, oneStream: true }, "auto", "stdio").then(
      ({ era }) => era as string,
      (error: WireError) => (error.code === "closed" ? (error.cause as WireError).code : error.code),
    );
    say(bytes.subarray(0, Math.min(end, firstLine)));
    if (end >= firstLine) await askedToInitialize;
    say(bytes.subarray(firstLine, end));
    if (end === bytes.length) await opening;
    hangUp(exit);
    const outcome = await opening;
    reported.set(outcome, (reported.get(outcome) ?? 0) + 1);
  }
  expect([...reported]).toEqual([
    ["exited", bytes.length],
    ["legacy", 1],
  ]);
});
