import { type JsonObject, WireError } from "@fairlead/wire";
import { expect, test } from "vitest";
import { openSubscription } from "../../src/mcp/subscription.ts";
import { manualClock } from "../support/manual-clock.ts";
import { scriptedSession } from "./scripted-session.ts";

const cut = new WireError("stream_lost", "cut");
const both = { tools: { listChanged: true }, prompts: { listChanged: true }, resources: {} };

/** `listen` says, for each opening, whether the server acknowledges it and how it ends; none: it stays open. */
function testSubscription(
  listen: readonly { readonly begins?: boolean; readonly ends?: JsonObject | WireError }[],
  capabilities: JsonObject = both,
) {
  const clock = manualClock();
  const life = new AbortController();
  const told: string[] = [];
  const asked: unknown[] = [];
  const session = scriptedSession({
    capabilities,
    answers: {
      "subscriptions/listen"(params) {
        asked.push(params);
        told.push(`${clock.now()} asked`);
        const { begins = true, ends } = listen[asked.length - 1] ?? {};
        if (begins) queueMicrotask(() => subscription.acknowledged());
        return ends;
      },
    },
  });
  const subscription = openSubscription({
    session,
    serverName: "s",
    clock,
    random: () => 0.5,
    signal: life.signal,
    onMissed: (lists) => told.push(`${clock.now()} missed ${lists.join(" ")}`),
    onTrouble: () => told.push(`${clock.now()} trouble`),
  });
  return { clock, life, told, asked };
}

test("asks for the lists that the server says may change, and is content while it stays open", async () => {
  const { clock, told, asked } = testSubscription([]);
  await clock.pass(3_600_000);
  expect(asked).toEqual([{ notifications: { toolsListChanged: true, promptsListChanged: true } }]);
  expect(told).toEqual(["0 asked"]);
});

test("without lists that may change nobody is asked", async () => {
  const { clock, told } = testSubscription([], { tools: {}, prompts: { listChanged: false }, resources: [] });
  await clock.pass(1000);
  expect(told).toEqual([]);
});

test("one that breaks is opened again, ever later, and then what was missed is told", async () => {
  const { clock, told } = testSubscription([{ ends: cut }, { ends: { resultType: "complete" } }, {}]);
  await clock.pass(60_000);
  expect(told).toEqual([
    "0 asked",
    "1000 asked",
    "1000 missed tools prompts",
    "2600 asked",
    "2600 missed tools prompts",
  ]);
});

test("one that cannot be opened for now is trouble, and tried again", async () => {
  const gone = new WireError("unreachable", "refused");
  const { clock, told } = testSubscription([
    { begins: false, ends: cut },
    { begins: false, ends: gone },
    { begins: false, ends: new WireError("http_status", "no time", { httpStatus: 503 }) },
    {},
  ]);
  await clock.pass(60_000);
  expect(told).toEqual([
    "0 asked",
    "0 trouble",
    "1000 asked",
    "1000 trouble",
    "2600 asked",
    "2600 trouble",
    "5160 asked",
    "5160 missed tools prompts",
  ]);
});

test.each<[string, JsonObject | WireError]>([
  ["refuses", new WireError("rpc", "what?", { rpc: { code: -32601 } })],
  ["sends an invalid message", new WireError("bad_message", "no JSON")],
  ["ends without having begun", { resultType: "complete" }],
])("a server that %s is not asked again", async (_, ends) => {
  const { clock, told } = testSubscription([{ begins: false, ends }]);
  await clock.pass(3_600_000);
  expect(told).toEqual(["0 asked"]);
});

test("it is over when the conversation is", async () => {
  const { clock, life, told } = testSubscription([{ ends: cut }]);
  await clock.pass(500);
  life.abort();
  await clock.pass(3_600_000);
  expect(told).toEqual(["0 asked"]);
});
