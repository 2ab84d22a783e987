import { expect, test } from "vitest";
import { OpenWork } from "../../src/request/open-work.ts";
import { type BeginningRequest, type RequestNews, RequestWatch } from "../../src/request/request-watch.ts";

const call = { who: "client", client: "cursor", serverName: "files", serverToolName: "read" } as const;

/** Begins a request as `runRequest` does. */
function begin(watch: RequestWatch, request: BeginningRequest & { readonly stop?: AbortController } = call) {
  const work = new OpenWork().begin(request.signal, request.stop, watch.isWatched);
  return { ...work, running: watch.begin(request, work) };
}

test("a request begins and ends once, with what happened in between", () => {
  const watch = new RequestWatch({ now: () => 1000 });
  const news: RequestNews[] = [];
  watch.on((each) => void news.push(each));
  const given = new AbortController().signal;
  const { running } = begin(watch, { ...call, signal: given });
  running.asks();
  running.asked();
  running.ended("ok", { result: { content: [] } });
  expect(news.map(({ type }) => type)).toEqual(["began", "asks", "asked", "ended"]);
  expect(news[0]?.request).toMatchObject({ id: 1, began: 1000, kind: "tool", client: "cursor", given });
  expect(news[3]).toMatchObject({ outcome: "ok", result: { content: [] } });
  expect(new Set(news.map(({ request }) => request)).size).toBe(1);
});

test("a listener that comes later is told of the requests that run, and of those that ask a person", () => {
  const watch = new RequestWatch({ now: () => 1000 });
  const { running: ended } = begin(watch);
  ended.ended("ok", {});
  const { running: asking } = begin(watch, { ...call, signal: new AbortController().signal });
  asking.asks();
  const { running } = begin(watch);
  const news: RequestNews[] = [];
  const stop = watch.on((each) => void news.push(each));
  expect(news.map(({ type, request }) => [type, request.id])).toEqual([
    ["began", 2],
    ["asks", 2],
    ["began", 3],
  ]);
  asking.asked();
  running.ended("cancelled", {});
  expect(news.slice(3).map(({ type, request }) => [type, request])).toEqual([
    ["asked", news[0]?.request],
    ["ended", news[2]?.request],
  ]);
  stop();
  asking.ended("ok", {});
  expect(news).toHaveLength(5);
});

test("a listener can stop a request, and the sender's own signal stops it too", () => {
  const watch = new RequestWatch({ now: () => 1000 });
  const news: RequestNews[] = [];
  watch.on((each) => void news.push(each));
  const sender = new AbortController();
  const first = begin(watch, { ...call, signal: sender.signal });
  news[0]?.request.cancel?.("enough");
  expect([first.signal.reason, sender.signal.aborted]).toEqual(["enough", false]);
  const second = begin(watch, { ...call, signal: sender.signal });
  sender.abort("gone");
  expect(second.signal.reason).toBe("gone");
  // A request whose sender has a way to stop it keeps the sender's signal.
  const own = new AbortController();
  const third = begin(watch, { ...call, signal: own.signal, stop: own });
  expect(third.signal).toBe(own.signal);
  news.at(-1)?.request.cancel?.("enough");
  expect(own.signal.reason).toBe("enough");
  // A sender without a signal: while a program watches, the request has one of its own.
  const fourth = begin(watch);
  news.at(-1)?.request.cancel?.("enough");
  expect(fourth.signal.reason).toBe("enough");
});

test("a request that began without a signal, before anyone watched, shares its signal and cannot be stopped alone", () => {
  const watch = new RequestWatch({ now: () => 1000 });
  begin(watch);
  const news: RequestNews[] = [];
  watch.on((each) => void news.push(each));
  expect(news[0]?.request).toMatchObject({ signal: undefined, cancel: undefined });
});
