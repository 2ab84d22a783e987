import { type JsonObject, type NotificationListener, WireError } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import type { OpenOptions } from "../../src/connect/open-session.ts";
import type { ServerNews, ServerState } from "../../src/events.ts";
import { Connection } from "../../src/server/connection.ts";
import type { FilteredCatalog } from "../../src/server/filtered-catalog.ts";
import { manualClock } from "../support/manual-clock.ts";
import { type Script, scriptedSession } from "./scripted-session.ts";

const named = (...names: string[]): JsonObject[] => names.map((name) => ({ name, inputSchema: { type: "object" } }));
const changing = { tools: { listChanged: true }, prompts: {}, resources: {} };
const usual = {
  "tools/list": { tools: named("a") },
  "prompts/list": { prompts: [{ name: "p" }] },
  "resources/list": { resources: [] },
  "resources/templates/list": { resourceTemplates: [] },
};

/** A client that follows a server whose answers the test may change. */
async function testClient({
  onOpen,
  listed,
  excludeTools = [],
  ...script
}: Script & {
  onOpen?: (notify: NotificationListener) => void;
  listed?: FilteredCatalog;
  excludeTools?: readonly string[];
} = {}) {
  const clock = manualClock();
  const answers: NonNullable<Script["answers"]> = { ...usual, ...script.answers };
  const current = new Map(Object.entries(answers));
  const session = scriptedSession({
    capabilities: changing,
    ...script,
    answers: Object.fromEntries(
      [...current.keys(), "subscriptions/listen"].map((method) => [
        method,
        (params: JsonObject) => answerOf(method, params),
      ]),
    ),
  });
  function answerOf(method: string, params: JsonObject): JsonObject | WireError | undefined {
    const answer = current.get(method);
    return typeof answer === "function" ? answer(params) : answer;
  }
  const news: ServerNews[] = [];
  const states: ServerState[] = [];
  let options: OpenOptions | undefined;
  const client = new Connection(
    {
      definition: { name: "s", excludeTools },
      open: async (given) => {
        options = given;
        onOpen?.((...news) => given.onNotification?.(...news));
        return { ...session, listed };
      },
      connectTimeout: 30_000,
      clock,
      onState: (state) => states.push(state),
      onNews: (each) => news.push(each),
    },
    { follow: true },
  );
  await client.connect();
  return {
    clock,
    client,
    session,
    news,
    states,
    set: (method: string, answer: JsonObject | WireError | undefined) =>
      answer ? current.set(method, answer) : current.delete(method),
    say: (method: string, params: JsonObject = {}) => options?.onNotification?.(method, params),
  };
}

const toolNames = (client: Connection) => client.filteredCatalog?.catalog.tools.map(({ name }) => name);
const settled = () => new Promise(setImmediate);

describe("the lists that the background host has read", () => {
  test("are not read again before one of them changes; then all of them, with the tools that the settings hide", async () => {
    const catalog = { tools: [], prompts: [], resources: [], resourceTemplates: [], dropped: [], repaired: [] };
    const listed: FilteredCatalog = {
      catalog: { ...catalog, truncated: [] },
      hidden: new Map([["secret", "excludeTools"]]),
      offer: { tools: 0, prompts: 0, resources: 0, resourceTemplates: 0 },
    };
    const { client, session, set, say } = await testClient({ listed, excludeTools: ["secret"] });
    expect(await client.discover()).toBe(listed);
    expect(session.asked).toEqual([]);
    set("tools/list", { tools: named("b", "secret") });
    set("prompts/list", { prompts: [{ name: "q" }] });
    say("notifications/prompts/list_changed");
    await settled();
    expect(toolNames(client)).toEqual(["b"]);
    expect(client.filteredCatalog?.hidden).toEqual(listed.hidden);
    expect(client.filteredCatalog?.catalog.prompts).toMatchObject([{ name: "q" }]);
    expect(await client.discover()).toMatchObject({ offer: { tools: 1 } });
  });
});

describe("a list that changed", () => {
  test("is read again, and only that one; what is new is told", async () => {
    const { client, session, news, states, set, say } = await testClient();
    await client.discover();
    const before = client.filteredCatalog;
    news.length = 0;
    const read = session.asked.length;
    set("tools/list", { tools: named("b", "c") });
    say("notifications/tools/list_changed");
    expect(client.filteredCatalog).toBe(before);
    await settled();
    expect(session.asked.slice(read)).toEqual(["tools/list"]);
    expect(toolNames(client)).toEqual(["b", "c"]);
    expect(client.filteredCatalog?.catalog.prompts).toEqual(before?.catalog.prompts);
    expect(news).toEqual([
      { type: "list_changed", server: "s", list: "tools" },
      {
        type: "catalog",
        server: "s",
        lists: ["tools"],
        tools: { added: ["b", "c"], removed: ["a"], changed: [] },
      },
    ]);
    expect(states.at(-1)).toMatchObject({ status: "connected", offer: { tools: 2, prompts: 1 } });
  });

  test("and is the same as before is not reported", async () => {
    const { client, news, states, say } = await testClient();
    await client.discover();
    const told = [news.length, states.length];
    say("notifications/tools/list_changed");
    await settled();
    expect([news.length - 1, states.length]).toEqual(told);
  });

  test("to nothing leaves the server connected", async () => {
    const { client, set, say } = await testClient({ capabilities: { tools: {} } });
    await client.discover();
    set("tools/list", { tools: [] });
    say("notifications/tools/list_changed");
    await settled();
    expect(client.state).toMatchObject({ status: "connected", offer: { tools: 0, note: "0 tools yet" } });
  });

  test("while the lists are read for the first time is read after that", async () => {
    let notify: NotificationListener = () => {};
    let lists = 0;
    const { client, session } = await testClient({
      answers: {
        "tools/list"() {
          lists += 1;
          if (lists === 1) notify("notifications/tools/list_changed", {});
          return { tools: named(lists === 1 ? "a" : "b") };
        },
      },
      onOpen: (given) => {
        notify = given;
      },
    });
    await client.discover();
    await settled();
    expect(session.asked.filter((method) => method === "tools/list")).toHaveLength(2);
    expect(toolNames(client)).toEqual(["b"]);
  });

  test("of resources stands for their templates, too", async () => {
    const { client, session, news, set, say } = await testClient();
    await client.discover();
    const read = session.asked.length;
    set("resources/templates/list", { resourceTemplates: [{ name: "t", uriTemplate: "x://{a}" }] });
    say("notifications/resources/list_changed");
    await settled();
    expect(session.asked.slice(read)).toEqual(["resources/list", "resources/templates/list"]);
    expect(news.at(-1)).toMatchObject({ type: "catalog", lists: ["resources"] });
  });

  test("is only reported, and not read again, without `follow`", async () => {
    const session = scriptedSession();
    let options: OpenOptions | undefined;
    const news: ServerNews[] = [];
    const client = new Connection({
      definition: { name: "s", excludeTools: [] },
      open: async (given) => {
        options = given;
        return session;
      },
      connectTimeout: 30_000,
      onNews: (each) => news.push(each),
    });
    await client.connect();
    await client.discover();
    options?.onNotification?.("notifications/tools/list_changed", {});
    await settled();
    expect(session.asked).toEqual(["tools/list"]);
    expect(news.at(-1)).toEqual({ type: "list_changed", server: "s", list: "tools" });
    await client.disconnect();
  });
});

describe("a list that cannot be read again", () => {
  const refused = new WireError("rpc", "not now", { rpc: { code: -32000 } });

  test("stays as it was, and that is said until it could be read", async () => {
    const { clock, client, news, set, say } = await testClient();
    await client.discover();
    news.length = 0;
    set("tools/list", refused);
    set("prompts/list", { prompts: [{ name: "q" }] });
    say("notifications/tools/list_changed");
    say("notifications/prompts/list_changed");
    await clock.pass(1000);
    expect(toolNames(client)).toEqual(["a"]);
    expect(client.filteredCatalog?.catalog.prompts).toMatchObject([{ name: "q" }]);
    expect(client.state).toMatchObject({
      status: "connected",
      offer: { tools: 1, prompts: 1, note: 'the list of tools may be out of date: "s": not now' },
    });
    expect(news.filter(({ type }) => type === "refresh_failed")).toEqual([
      {
        type: "refresh_failed",
        server: "s",
        list: "tools",
        error: { reason: "tool_error", message: '"s": not now' },
      },
    ]);
    set("tools/list", usual["tools/list"]);
    say("notifications/tools/list_changed");
    await clock.pass(2000);
    expect(client.state).toMatchObject({ status: "connected" });
    expect(client.filteredCatalog?.offer.note).toBeUndefined();
  });

  test("in time counts as one that cannot be read", async () => {
    const { clock, client, news, set, say } = await testClient();
    await client.discover();
    set("tools/list", undefined);
    say("notifications/tools/list_changed");
    await clock.pass(30_000);
    expect(news.at(-1)).toMatchObject({
      type: "refresh_failed",
      error: { reason: "connect_timeout", message: '"s" timed out: no response to tools/list' },
    });
    expect(toolNames(client)).toEqual(["a"]);
  });

  test("because the server is gone is nothing of its own", async () => {
    const { client, session, news, set, say } = await testClient();
    await client.discover();
    set("tools/list", undefined);
    say("notifications/tools/list_changed");
    await settled();
    session.die(new WireError("exited", "gone"));
    await settled();
    expect(news.map(({ type }) => type)).not.toContain("refresh_failed");
    expect(client.getStatus()).toBe("disconnected");
  });
});

describe("a server of the modern era", () => {
  const modern: Script = { verdict: { era: "modern", transport: "http" } };

  test("is listened to from before its lists are read; after a break they are read again", async () => {
    let acknowledge = (): void => {};
    const { clock, client, session, set, say } = await testClient({
      ...modern,
      answers: {
        "subscriptions/listen"() {
          queueMicrotask(() => acknowledge());
          return new WireError("stream_lost", "cut");
        },
      },
      onOpen: (notify) => {
        acknowledge = () => notify("notifications/subscriptions/acknowledged", {});
      },
    });
    expect(session.asked).toEqual(["subscriptions/listen"]);
    await client.discover();
    set("subscriptions/listen", undefined);
    set("tools/list", { tools: named("b") });
    await clock.pass(1200);
    expect(toolNames(client)).toEqual(["a"]);
    say("notifications/subscriptions/acknowledged");
    await settled();
    expect(toolNames(client)).toEqual(["b"]);
    await client.disconnect();
  });

  test("that cannot be listened to any more, and does not answer, is disconnected", async () => {
    const gone = new WireError("unreachable", "refused");
    const { clock, client } = await testClient({
      ...modern,
      answers: { "subscriptions/listen": gone, "server/discover": gone },
    });
    await clock.pass(1);
    expect(client.state).toMatchObject({ status: "disconnected", reason: "unreachable" });
  });

  test("whose lists never change is not listened to", async () => {
    const { session } = await testClient({ ...modern, capabilities: { tools: {} } });
    expect(session.asked).toEqual([]);
  });
});

test("after a reconnect, what differs from before is told, and nothing else", async () => {
  const sessions = [scriptedSession(), scriptedSession({ answers: { "tools/list": { tools: named("echo", "new") } } })];
  const news: ServerNews[] = [];
  const client = new Connection({
    definition: { name: "s", excludeTools: [] },
    open: async () => sessions.shift() ?? scriptedSession(),
    connectTimeout: 30_000,
    onNews: (each) => news.push(each),
  });
  for (let times = 0; times < 2; times += 1) {
    await client.connect();
    await client.discover();
    await client.disconnect();
  }
  expect(news).toMatchObject([{ tools: { added: ["echo"] } }, { tools: { added: ["new"], removed: [], changed: [] } }]);
});

test("what a server logs, and which resources it updates, is told as it comes", async () => {
  const { news, say } = await testClient();
  say("notifications/message", { level: "warning", data: "low water" });
  say("notifications/resources/updated", { uri: "x://1" });
  expect(news).toEqual([
    { type: "log", server: "s", level: "warning", data: "low water" },
    { type: "resource_updated", server: "s", uri: "x://1" },
  ]);
});
