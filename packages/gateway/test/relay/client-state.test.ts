import { expect, test } from "vitest";
import { ClientState, isReplayed } from "../../src/relay/client-state.ts";

type State = ClientState;

function note(state: State, method: string, params?: object): void {
  state.note(method, Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 7, method, ...(params && { params }) })));
}

function greet(state: State, capabilities: object = {}): void {
  state.greeted(Buffer.from(JSON.stringify({ id: 7, result: { capabilities } })));
}

const replayed = (number: number, method: string, params?: object) => {
  const id = `fairlead-relay:${number}`;
  return {
    id: JSON.stringify(id),
    line: `${JSON.stringify({ jsonrpc: "2.0", id, method, ...(params && { params }) })}\n`,
  };
};

test("a new host gets nothing before a host has accepted the client", () => {
  const state = new ClientState();
  note(state, "notifications/initialized");
  note(state, "logging/setLevel", { level: "info" });
  expect([state.greeting(), state.afterGreeting(), state.announcedLists()]).toEqual([undefined, [], []]);
  note(state, "initialize");
  expect([state.greeting(), state.afterGreeting()]).toEqual([undefined, []]);
  state.greeted(Buffer.from('{"id":7,"error":{"code":1}}'));
  expect([state.greeting(), state.afterGreeting()]).toEqual([undefined, []]);
});

test("a new host gets the greeting, then the level and the subscriptions that still hold", () => {
  const state = new ClientState();
  note(state, "initialize", { a: 1 });
  greet(state);
  expect(state.afterGreeting()).toEqual([]);
  note(state, "notifications/initialized");
  note(state, "logging/setLevel", { level: "info" });
  note(state, "logging/setLevel", { level: "error" });
  for (const uri of ["x", "y", "z"]) note(state, "resources/subscribe", { uri });
  note(state, "resources/unsubscribe", { uri: "y" });
  note(state, "resources/subscribe", { uri: 7 });
  note(state, "resources/unsubscribe");
  note(state, "tools/call", { uri: "t" });
  state.note("resources/subscribe", Buffer.from("{ broken"));
  expect(state.greeting()).toEqual(replayed(1, "initialize", { a: 1 }));
  expect(state.afterGreeting()).toEqual([
    '{"jsonrpc":"2.0","id":7,"method":"notifications/initialized"}\n',
    replayed(2, "logging/setLevel", { level: "error" }),
    replayed(3, "resources/subscribe", { uri: "x" }),
    replayed(4, "resources/subscribe", { uri: "z" }),
  ]);
});

test("a second initialize counts when a host has accepted it", () => {
  const state = new ClientState();
  note(state, "initialize", { a: 1 });
  greet(state);
  note(state, "initialize", { a: 2 });
  expect(state.greeting()).toBeUndefined();
  greet(state);
  expect(state.greeting()).toEqual(replayed(1, "initialize", { a: 2 }));
});

test("the client expects news of the lists that the host announced, as soon as it is initialized", () => {
  const state = new ClientState();
  const listChanged = true;
  greet(state, { tools: { listChanged }, prompts: {}, resources: { listChanged }, logging: { listChanged } });
  expect(state.announcedLists()).toEqual([]);
  note(state, "notifications/initialized");
  expect(state.announcedLists()).toEqual(["tools", "resources"]);
  greet(state, { prompts: { listChanged }, tools: { listChanged: "yes" } });
  expect(state.announcedLists()).toEqual(["prompts"]);
});

test("a new host gets the oldest names, and no more than fit into the relay's first line", () => {
  const state = new ClientState();
  const first = [
    ["tools", "bank", "pay"],
    ["tools", "bank", "add", "bank__add"],
  ] as const;
  state.seen(first);
  expect(state.names()).toEqual(first);
  const long = "あ".repeat(330_000);
  for (let at = 0; at < 40; at += 1) state.seen([["links", "a", `${at}${long}`]]);
  expect(state.names().slice(0, 2)).toEqual(first);
  const size = Buffer.byteLength(JSON.stringify(state.names()));
  expect(size).toBeGreaterThan(20_000_000);
  expect(size).toBeLessThan(26_000_000);
});

test("only ids of repeated requests are recognized as such", () => {
  expect(['"fairlead-relay:1"', "7", '"fairlead"', "fairlead-relay:1"].map(isReplayed)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
