import { type JsonObject, WireError } from "@fairlead/wire";
import { expect, test } from "vitest";
import { listsThatChange, Subscription } from "../../src/server/subscription.ts";
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
  const subscription = new Subscription({
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

test("without lists that may change, no subscription is opened", async () => {
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

test("the client asks for all three lists, and reports all three as possibly missed", async () => {
  const { clock, told, asked } = testSubscription([{ ends: cut }, {}], {
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { listChanged: true },
  });
  await clock.pass(60_000);
  const notifications = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
  expect(asked).toEqual([{ notifications }, { notifications }]);
  expect(told).toEqual(["0 asked", "1000 asked", "1000 missed tools prompts resources"]);
  expect(listsThatChange({ resources: { listChanged: true }, tools: { listChanged: "yes" } })).toEqual(["resources"]);
});

/** Opens a subscription whose first connection breaks at once, the second after `open` milliseconds. */
async function reopenedAfter(open: number): Promise<readonly string[]> {
  const clock = manualClock();
  const life = new AbortController();
  const told: string[] = [];
  const waits: (boolean | undefined)[] = [];
  let asked = 0;
  const subscription = new Subscription({
    session: {
      capabilities: both,
      async request() {
        asked += 1;
        told.push(`${clock.now()} asked`);
        queueMicrotask(() => subscription.acknowledged());
        if (asked === 3) return new Promise(() => {});
        if (asked === 2) await new Promise<void>((resolve) => clock.after(open, resolve));
        throw cut;
      },
    },
    serverName: "s",
    clock: {
      ...clock,
      after(milliseconds, action, how) {
        waits.push(how?.background);
        return clock.after(milliseconds, action, how);
      },
    },
    random: () => 0.5,
    signal: life.signal,
    onMissed: () => told.push(`${clock.now()} missed`),
    onTrouble: () => told.push("trouble"),
  });
  await clock.pass(3_600_000);
  life.abort();
  expect(waits).toEqual([true, true]);
  return told;
}

test("the pause is short again only after a subscription that stayed open for a minute", async () => {
  const before = ["0 asked", "1000 asked", "1000 missed"];
  expect(await reopenedAfter(59_999)).toEqual([...before, "62599 asked", "62599 missed"]);
  expect(await reopenedAfter(60_000)).toEqual([...before, "62000 asked", "62000 missed"]);
});
