import { expect, test } from "vitest";
import { type RequestNews, RequestWatch } from "../../src/request/request-watch.ts";

const call = { who: "client", client: "cursor", serverName: "files", serverToolName: "read" } as const;

test("without a listener, a request is not described at all", () => {
  const watch = new RequestWatch();
  expect(watch.begin(call)).toBeUndefined();
  const stop = watch.on(() => {});
  expect(watch.begin(call)).toBeDefined();
  stop();
  expect(watch.begin(call)).toBeUndefined();
});

test("a request begins and ends once, with what happened in between", () => {
  const watch = new RequestWatch();
  const news: RequestNews[] = [];
  watch.on((each) => void news.push(each));
  const given = new AbortController().signal;
  const report = watch.begin({ ...call, signal: given });
  report?.asks();
  report?.asked();
  report?.ended("ok", { result: { content: [] } });
  expect(news.map(({ type }) => type)).toEqual(["began", "asks", "asked", "ended"]);
  expect(news[0]?.request).toMatchObject({ id: 1, kind: "tool", client: "cursor", serverName: "files", given });
  expect(news[3]).toMatchObject({ outcome: "ok", result: { content: [] } });
  expect(new Set(news.map(({ request }) => request)).size).toBe(1);
});

test("a listener can stop a request, and the sender's own signal stops it too", () => {
  const watch = new RequestWatch();
  const news: RequestNews[] = [];
  watch.on((each) => void news.push(each));
  const sender = new AbortController();
  const first = watch.begin({ ...call, signal: sender.signal });
  news[0]?.request.cancel("enough");
  expect([first?.signal.reason, sender.signal.aborted]).toEqual(["enough", false]);
  const second = watch.begin({ ...call, signal: sender.signal });
  sender.abort("gone");
  expect(second?.signal.reason).toBe("gone");
  // A request whose sender has a way to stop it keeps the sender's signal.
  const own = new AbortController();
  const third = watch.begin({ ...call, signal: own.signal, stop: own });
  expect(third?.signal).toBe(own.signal);
  news.at(-1)?.request.cancel("enough");
  expect(own.signal.reason).toBe("enough");
});
