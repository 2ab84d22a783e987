import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { WireError } from "../../src/errors.ts";
import type { HttpAnswer } from "../../src/http/http-client.ts";
import { keepListening } from "../../src/http/http-listen.ts";
import { createReadBudget } from "../../src/rpc/read-budget.ts";
import { defaultLimits, defaultTimes } from "../../src/target.ts";
import { recorder } from "../support/recorder.ts";
import { jumpingTime } from "../support/simulated-time.ts";

const answer = (status: number, body = ""): HttpAnswer => ({
  url: new URL("http://127.0.0.1/mcp"),
  status,
  headers: { "content-type": status === 200 ? "text/event-stream" : "text/plain" },
  body: Readable.from([Buffer.from(body)]),
  sent: {},
});
const news = 'data: {"jsonrpc":"2.0","method":"n"}\n\n';

/** Listens for as long as there are answers; returns how long it waited before each but the first. */
async function listen(
  answers: readonly (HttpAnswer | WireError)[],
  expired: (answer: HttpAnswer) => WireError | undefined = () => undefined,
) {
  const time = jumpingTime();
  const stop = new AbortController();
  let reopened = 0;
  let ended = 0;
  const events = {
    ...recorder(),
    reopened() {
      reopened += 1;
    },
    streamEnded() {
      ended += 1;
    },
  };
  const visits: number[] = [];
  const positions: unknown[] = [];
  await keepListening({
    async get(position) {
      const next = answers[visits.length];
      if (next === undefined) stop.abort();
      stop.signal.throwIfAborted();
      visits.push(time.now());
      positions.push(position);
      if (next instanceof WireError) throw next;
      return next ?? answer(405);
    },
    expired,
    events,
    budget: createReadBudget({ limits: defaultLimits, times: defaultTimes, time, onFlooding: () => undefined }),
    limits: defaultLimits,
    time,
    signal: stop.signal,
  });
  return {
    pauses: visits.slice(1).map((moment, index) => moment - (visits[index] ?? 0)),
    events,
    reopened,
    ended,
    positions,
  };
}

test("a stream that is closed politely again and again, with nothing on it, is visited less and less", async () => {
  const { pauses } = await listen(Array.from({ length: 10 }, () => answer(200, "retry: 1\n\n")));
  expect(pauses).toEqual([1, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
});

test("a stream that brings something is visited again as soon as the server wishes", async () => {
  const { pauses, events, reopened } = await listen(Array.from({ length: 5 }, () => answer(200, `retry: 7\n${news}`)));
  expect(pauses).toEqual([7, 7, 7, 7]);
  // The first stream is opened, the others are opened again.
  expect(reopened).toBe(4);
  expect(events.messages).toHaveLength(5);
});

test("each end of the stream is reported, and each attempt that fails, but not the end of the session", async () => {
  const { ended } = await listen([answer(200, news), answer(500), answer(200, news)]);
  expect(ended).toBe(3);
  expect((await listen([answer(405)])).ended).toBe(1);
  expect((await listen([])).ended).toBe(0);
});

test("a stream that fails is tried again, eight times in a row at most", async () => {
  const { pauses, events } = await listen([
    answer(500),
    answer(200, news),
    ...Array.from({ length: 20 }, () => answer(500)),
  ]);
  expect(events.messages).toEqual([{ jsonrpc: "2.0", method: "n" }]);
  expect(pauses.slice(0, 2)).toEqual([1_000, 1_000]);
  expect(pauses).toHaveLength(9);
  expect(events.diagnostics[0]).toBe("the GET stream broke off: the GET stream answered with HTTP status 500");
});

test.each([400, 404, 405])("a server that answers %d has no such stream", async (status) => {
  const { pauses, events } = await listen([answer(status), answer(200, news)]);
  expect([pauses, events.messages]).toEqual([[], []]);
});

test.each([400, 401, 499])(
  "the body of the refusal %d is read, so that its connection can be used again",
  async (status) => {
    const refusal = answer(status, "no");
    await listen([refusal]);
    expect(refusal.body.listenerCount("data")).toBe(1);
  },
);

test.each([408, 429, 500])("a server that answers %d may have such a stream later", async (status) => {
  const { pauses, events } = await listen([answer(status), answer(200, news)]);
  expect(pauses).toEqual([1_000]);
  expect(events.messages).toHaveLength(1);
  expect(events.diagnostics[0]).toBe(`the GET stream broke off: the GET stream answered with HTTP status ${status}`);
});

test("a success that is no event stream counts as a failure", async () => {
  const page = { ...answer(200, "hello"), headers: { "content-type": "text/html" } };
  const { pauses, events } = await listen([page, answer(200, news)]);
  expect(pauses).toEqual([1_000]);
  expect(events.diagnostics[0]).toBe("the GET stream broke off: the GET stream answered with HTTP status 200");
  const created = { ...answer(201, news), headers: { "content-type": "text/event-stream" } };
  expect((await listen([created])).events.messages).toEqual([]);
});

test.each(["stream_lost", "unreachable"] as const)(
  "after twenty failures with %s, the client still opens the stream",
  async (code) => {
    const lost = Array.from({ length: 20 }, () => new WireError(code, "gone"));
    const { pauses, events, reopened } = await listen([...lost, answer(200, news)]);
    expect(pauses).toHaveLength(20);
    expect(events.messages).toHaveLength(1);
    // No stream was open before, but the server may have sent notifications meanwhile.
    expect(reopened).toBe(1);
  },
);

test("a server that wants the user to sign in is not asked again", async () => {
  const { pauses, events } = await listen([new WireError("unauthorized", "no"), answer(200, news)]);
  expect([pauses, events.messages, events.diagnostics]).toEqual([[], [], []]);
});

test("an expired session ends the stream only if the stream was open before", async () => {
  const asked: number[] = [];
  const expired = ({ status }: HttpAnswer): WireError | undefined => {
    asked.push(status);
    return status === 404 ? new WireError("session_expired", "gone") : undefined;
  };
  const { pauses, events } = await listen([answer(200, news), answer(404), answer(200, news)], expired);
  expect([pauses, events.messages.length, asked]).toEqual([[1_000], 1, [404]]);
  asked.length = 0;
  await listen([answer(404)], expired);
  expect(asked).toEqual([]);
});

test("each stream is opened at the position of the last event", async () => {
  const { positions } = await listen([answer(200, news), answer(200, `id: 7\n${news}`), answer(200, news)]);
  expect(positions).toEqual([undefined, undefined, "7"]);
});
