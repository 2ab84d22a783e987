import { programServer, stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { Host } from "../../src/host.ts";
import { ToolConfirmationOutcome } from "../../src/policy/confirmation.ts";
import type { TurnEvent } from "../../src/turn/events.ts";
import { manualClock } from "../support/manual-clock.ts";
import {
  type Asked,
  brokenIn,
  calls,
  collect,
  type Desk,
  desk,
  outcomes,
  plays,
  responses,
  rules,
  says,
} from "../support/turn-desk.ts";

const names = ({ tools }: Asked): readonly string[] => tools.map(({ name }) => name);
const told = (asked: Asked | undefined): unknown => asked && responses(asked);
const questions = (events: readonly TurnEvent[]) =>
  events.flatMap((event) => (event.type === "confirmation" ? [event.details] : []));

const two = (entry: object = { trust: true }): Promise<Desk> =>
  desk({
    servers: (path) => ({
      a: { ...stdioServer("counted", path("notes"), path("a"), "a"), ...entry },
      b: { ...stdioServer("counted", path("notes"), path("b"), "b"), ...entry },
    }),
  });

function known(host: Host, server: string): Promise<void> {
  return new Promise((resolve) => {
    host.on("state", ({ state }) => state.name === server && state.status === "connected" && state.offer && resolve());
  });
}

test("of servers that are known, only those that are called are started", async () => {
  await using at = await two();
  await at.host.start();
  await at.host[Symbol.asyncDispose]();
  const before = await at.lines("notes");
  const host = await at.again();
  const conversation = host.conversation({ model: plays(calls("echo", { text: "1" }), says("ok")) });
  expect((await collect(conversation.send("go"))).map(({ type }) => type)).not.toContain("waiting");
  await collect(host.runTurn("hello", { model: plays(says("hi")) }));
  const since = (await at.lines("notes")).slice(before.length).filter((line) => /^(start|call)/.test(line));
  expect(since).toEqual(["start a", 'call echo {"text":"1"}']);
});

test("a conversation has the servers that it names, and starts no others", async () => {
  await using at = await two();
  const model = plays(says("ok"));
  await collect(at.host.conversation({ model, servers: ["b"] }).send("go"));
  expect(model.requests.map(names)).toEqual([["ask", "echo"]]);
  expect((await at.lines("notes")).filter((line) => line.startsWith("start"))).toEqual(["start b"]);
  expect(() => at.host.conversation({ model, servers: ["c"] })).toThrow('there is no server "c"');
});

test("a server that does not come in time is missed, and is there from the next request on, under a name of its own", async () => {
  const clock = manualClock();
  await using at = await desk({
    host: { clock },
    servers: (path) => ({
      late: { ...stdioServer("slow-start", path("gate")), trust: true },
      s: { ...stdioServer("counted", path("notes")), trust: true },
    }),
  });
  const model = plays(
    calls("echo", { text: "1" }),
    async () => {
      const arrived = known(at.host, "late");
      await at.write("gate", "");
      await arrived;
      return calls("echo", { text: "2" });
    },
    calls("late__echo", { text: "3" }),
    says("ok"),
  );
  // The time to wait is over as soon as the other server has come, however long that takes.
  const over = known(at.host, "s").then(() => clock.pass(400));
  const events = await collect(at.host.conversation({ model, wait: 400 }).send("go"));
  await over;
  expect(events.slice(0, 2)).toEqual([
    { type: "waiting", servers: ["late", "s"] },
    { type: "missing", servers: [{ server: "late", message: '"late" did not list its tools within 0.4 s' }] },
  ]);
  const few = ["ask", "echo"];
  const more = ["ask", "echo", "late__echo"];
  expect(model.requests.map(names)).toEqual([few, few, more, more]);
  expect(outcomes(events)).toEqual([
    ["echo", "ok"],
    ["echo", "ok"],
    ["late__echo", "ok"],
  ]);
  expect(events.filter(({ type }) => type === "note")).toEqual([
    { type: "note", message: '"late" is connected: the model now has its tools' },
  ]);
});

test("servers that cannot be had are named once, with what to do", async () => {
  await using at = await desk({
    servers: () => ({ gone: { command: "/no/such/program" }, off: { command: "x" } }),
    fairlead: { servers: { off: { enabled: false } } },
  });
  const conversation = at.host.conversation({ model: plays(says("ok")) });
  const events = await collect(conversation.send("go"));
  expect(events.slice(0, 2)).toEqual([
    { type: "waiting", servers: ["gone"] },
    {
      type: "missing",
      servers: [
        { server: "gone", message: expect.stringContaining("/no/such/program"), next: expect.any(String) },
        { server: "off", message: expect.any(String), next: expect.any(String) },
      ],
    },
  ]);
  expect((await collect(conversation.send("again"))).map(({ type }) => type)).toEqual(["text", "done"]);
});

test("a server that dies before the call is there again for it; one that dies in the call is told to the model, and comes back", async () => {
  await using at = await desk({
    servers: (path) => ({
      m: { ...stdioServer("mortal"), trust: true },
      w: { ...programServer("workshop", path("notes")), trust: true },
    }),
  });
  /** Ends when the host knows. */
  const kill = (): Promise<void> =>
    new Promise((resolve) => {
      const state = at.host.states().find(({ name }) => name === "m");
      at.host.on("state", (event) => event.state.name === "m" && event.state.status !== "connected" && resolve());
      if (state?.status === "connected") process.kill(Number(state.peer.serverInfo.version));
    });
  const model = plays(
    async () => {
      await kill();
      return [...calls("echo", { text: "1" }), ...calls("exit", { code: 1 })];
    },
    calls("look"),
    says("ok"),
  );
  const conversation = at.host.conversation({ model });
  const events = await collect(conversation.send("go"));
  expect(told(model.requests[1])).toEqual([
    ["echo", { output: expect.stringContaining("1") }],
    [
      "exit",
      {
        error: expect.stringMatching(
          /^The connection was lost before the server answered: .*\n\[Up to <\/untrusted_context_/,
        ),
      },
    ],
  ]);
  expect(told(model.requests[2])).toEqual([["look", { output: expect.stringContaining("nothing to see") }]]);
  expect([events.at(-1)?.type, brokenIn(conversation.history)]).toEqual(["done", undefined]);
});

test("a definition that changes in the middle of a turn is asked about again, whatever was allowed, under the name that the model knows", async () => {
  await using at = await two({});
  const tool = (description: string): string =>
    JSON.stringify([{ name: "echo", description, inputSchema: { type: "object" } }]);
  await at.write("a", tool("Says it."));
  const model = plays(
    calls("echo", { text: "1" }),
    async () => {
      await at.write("a", tool("Says it, and more."));
      await at.host.restart(["a"]);
      return calls("echo", { text: "2" });
    },
    says("ok"),
  );
  const events = await collect(at.host.conversation({ model }).send("go"), {
    answer: ToolConfirmationOutcome.ProceedAlwaysTool,
  });
  expect(questions(events).map(({ serverName, change }) => [serverName, change])).toEqual([
    ["a", undefined],
    ["a", [{ member: "description", before: "Says it.", after: "Says it, and more." }]],
  ]);
  expect(outcomes(events)).toEqual([
    ["echo", "ok"],
    ["echo", "ok"],
  ]);
  expect(model.requests.map((asked) => names(asked)[0])).toEqual(["echo", "echo", "echo"]);
  expect(model.requests[2]?.tools[0]?.description).toContain("and more");
});

test("a definition that turns out to be another when its server is started for the call is asked about once more", async () => {
  await using at = await two({});
  const tool = (description: string): string =>
    JSON.stringify([{ name: "echo", description, inputSchema: { type: "object" } }]);
  await at.write("a", tool("Says it."));
  await at.host.start();
  await at.host[Symbol.asyncDispose]();
  await at.write("a", tool("Does worse."));
  const host = await at.again();
  const events = await collect(host.runTurn("go", { model: plays(calls("echo", { text: "1" }), says("ok")) }));
  expect(questions(events).map(({ change }) => change?.map(({ after }) => after))).toEqual([
    undefined,
    ["Does worse."],
  ]);
  expect(outcomes(events)).toEqual([["echo", "ok"]]);
  const headless = await at.again({ interactive: false, approvalMode: "yolo" });
  await at.write("a", tool("Does worst."));
  const alone = await collect(headless.runTurn("go", { model: plays(calls("echo", { text: "2" }), says("ok")) }));
  expect(outcomes(alone)).toEqual([["echo", "denied", "changed"]]);
});

test("a tool that is gone is told as gone", async () => {
  await using at = await two();
  const model = plays(async () => {
    await at.write("b", JSON.stringify([{ name: "other", inputSchema: { type: "object" } }]));
    await at.host.restart(["b"]);
    return calls("b__echo", { text: "1" });
  }, says("ok"));
  await collect(at.host.conversation({ model }).send("go"));
  expect(told(model.requests[1])).toEqual([
    ["b__echo", { error: '"b__echo" cannot be called: the server "b" no longer has the tool' }],
  ]);
});

test("two hosts in one process share nothing: neither names, nor answers, nor servers", async () => {
  await using one = await two({});
  await using other = await two({});
  const model = () => plays(calls("echo", { text: "1" }), says("ok"));
  const run = async (at: Desk) =>
    outcomes(
      await collect(at.host.runTurn("go", { model: model() }), { answer: ToolConfirmationOutcome.ProceedAlwaysServer }),
    );
  expect(await run(one)).toEqual([["echo", "ok"]]);
  const strict = await collect(other.host.runTurn("go", { model: model() }), {
    answer: ToolConfirmationOutcome.Cancel,
  });
  expect(outcomes(strict)).toEqual([["echo", "denied", "denied"]]);
  await other.host[Symbol.asyncDispose]();
  expect(outcomes(await collect(one.host.runTurn("go", { model: model() })))).toEqual([["echo", "ok"]]);
  const closed = rules(() => says("never"));
  expect(() => other.host.conversation({ model: closed })).toThrow("this host has been closed");
});
