import type { ListName } from "@fairlead/core/events";
import type { Host } from "@fairlead/core/host/types";
import { expect, test } from "vitest";
import { createListNews } from "../../src/lists/list-news.ts";
import { handClock } from "../hand-clock.ts";

/** News of a host whose events and rules the test makes. `told`: what a listener was told. */
function scene() {
  const clock = handClock();
  const listeners = new Map<string, (event: object) => void>();
  const rules = { now: "first", fails: false, reads: 0 };
  const host = {
    on(name: string, listener: (event: object) => void) {
      listeners.set(name, listener);
      return () => listeners.delete(name);
    },
    async policy() {
      rules.reads += 1;
      if (rules.fails) throw new Error("no rules");
      return { rules: [rules.now] };
    },
  } as unknown as Pick<Host, "on" | "policy">;
  const news = createListNews(host, clock);
  const told: (readonly [ListName, string | undefined])[] = [];
  const listen = (): (() => void) => news.onLists((list, { server }) => told.push([list, server]));
  return {
    clock,
    rules,
    news,
    told,
    listen,
    listeners,
    emit: (name: string, event: object = {}) => listeners.get(name)?.(event),
    /** Lets 3 seconds pass and the rules be read. */
    check: async (): Promise<void> => {
      clock.pass(3000);
      await new Promise(setImmediate);
    },
  };
}

test("changes within 100 ms are told once, without a server if several changed", () => {
  const { news, clock, told, listen, emit } = scene();
  listen();
  emit("catalog", { lists: ["tools", "prompts"], server: "a" });
  news.changed(["tools"], "b");
  news.changed(["prompts"], "a");
  expect(news.version()).toBe(3);
  clock.pass(99);
  expect(told).toEqual([]);
  clock.pass(1);
  expect(told.splice(0)).toEqual([
    ["tools", undefined],
    ["prompts", "a"],
  ]);
  clock.pass(1000);
  expect(told).toEqual([]);
  emit("servers");
  clock.pass(100);
  expect(told).toEqual([
    ["tools", undefined],
    ["prompts", undefined],
    ["resources", undefined],
  ]);
});

test("an announced change is told when the host has read the list, or after a second", () => {
  const { clock, told, listen, emit } = scene();
  listen();
  emit("list_changed", { list: "tools", server: "a" });
  emit("list_changed", { list: "tools", server: "b" });
  clock.pass(500);
  emit("list_changed", { list: "tools", server: "a" });
  emit("catalog", { lists: ["prompts", "tools"], server: "b" });
  clock.pass(100);
  expect(told.splice(0)).toEqual([
    ["prompts", "b"],
    ["tools", "b"],
  ]);
  clock.pass(499);
  expect(told).toEqual([]);
  clock.pass(1);
  expect(told.splice(0)).toEqual([["tools", "a"]]);
  clock.pass(5000);
  expect(told).toEqual([]);
  emit("list_changed", { list: "tools", server: "a" });
  clock.pass(1100);
  expect(told).toEqual([["tools", "a"]]);
});

test("listeners learn of a changed resource at once, until they stop listening", () => {
  const { news, emit } = scene();
  const [first, second]: [string[], string[]] = [[], []];
  const stop = news.onUpdated((server, uri) => first.push(`${server} ${uri}`));
  news.onUpdated((server, uri) => second.push(`${server} ${uri}`));
  emit("resource_updated", { server: "a", uri: "x:1" });
  stop();
  emit("resource_updated", { server: "b", uri: "x:2" });
  expect([first, second]).toEqual([["a x:1"], ["a x:1", "b x:2"]]);
});

test("changed rules are told within three seconds; rules that cannot be read are not changed", async () => {
  const { clock, rules, told, listen, check } = scene();
  listen();
  listen();
  await check();
  await check();
  expect([told, rules.reads]).toEqual([[], 2]);
  rules.fails = true;
  await check();
  rules.fails = false;
  await check();
  clock.pass(100);
  expect(told).toEqual([]);
  rules.now = "second";
  await check();
  clock.pass(100);
  expect(told).toEqual([
    ["tools", undefined],
    ["tools", undefined],
  ]);
});

test("the rules are read only while a client listens", async () => {
  const { clock, rules, told, listen, check } = scene();
  await check();
  expect(rules.reads).toBe(0);
  const stops = [listen(), listen()];
  expect(rules.reads).toBe(1);
  await check();
  stops[0]?.();
  await check();
  const before = rules.reads;
  stops[1]?.();
  rules.now = "second";
  await check();
  expect(rules.reads).toBe(before);
  const again = listen();
  again();
  await check();
  clock.pass(100);
  expect([rules.reads, told]).toEqual([before + 1, []]);
});

test("after the end nothing is told and nothing is waited for", async () => {
  const { news, clock, rules, told, listen, emit, listeners, check } = scene();
  listen();
  await check();
  const { reads } = rules;
  news.changed(["tools"], "a");
  emit("list_changed", { list: "prompts", server: "a" });
  news.close();
  await check();
  expect([told, listeners.size, rules.reads]).toEqual([[], 0, reads]);
  clock.pass(10_000);
  expect(told).toEqual([]);
});

test("no timer for changed lists keeps the process alive", async () => {
  const clock = handClock();
  const set: unknown[] = [];
  const announced: ((event: object) => void)[] = [];
  const host = {
    on(name: string, listener: (event: object) => void) {
      if (name === "list_changed") announced.push(listener);
      return () => {};
    },
    policy: async () => ({}),
  } as unknown as Pick<Host, "on" | "policy">;
  const news = createListNews(host, {
    after(milliseconds, action, how) {
      set.push([milliseconds, how]);
      return clock.after(milliseconds, action);
    },
  });
  for (const announce of announced) announce({ list: "tools", server: "a" });
  news.changed(["tools"]);
  const stop = news.onLists(() => {});
  await new Promise(setImmediate);
  expect(set).toEqual([
    [1000, { background: true }],
    [100, { background: true }],
    [3000, { background: true }],
  ]);
  stop();
  news.close();
});

test("the client is told of a list again if the list was read and then announced again", () => {
  const { clock, told, listen, emit } = scene();
  listen();
  emit("list_changed", { list: "tools", server: "a" });
  emit("catalog", { lists: ["tools"], server: "a" });
  clock.pass(100);
  emit("list_changed", { list: "tools", server: "a" });
  clock.pass(1100);
  expect(told).toEqual([
    ["tools", "a"],
    ["tools", "a"],
  ]);
});

test("what a reload changes is told once, when the reload has ended", async () => {
  const { news, clock, rules, told, listen, emit, check } = scene();
  listen();
  await check();
  let end = (): void => {};
  const reload = news.during(
    new Promise<void>((resolve) => {
      end = resolve;
    }),
  );
  emit("servers");
  clock.pass(100);
  rules.now = "second";
  expect(told).toEqual([]);
  news.changed(["tools", "prompts", "resources"]);
  end();
  await reload;
  clock.pass(100);
  await check();
  clock.pass(100);
  expect(told).toEqual([
    ["tools", undefined],
    ["prompts", undefined],
    ["resources", undefined],
  ]);
});
