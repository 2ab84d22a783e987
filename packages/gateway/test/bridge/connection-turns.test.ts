import { setMaxListeners } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer, temporaryFolder, until } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import { createConnectionTurns } from "../../src/bridge/connection-turns.ts";
import { allowAll, type GatewayScene, gatewayScene } from "../support/gateway-scene.ts";
import { officialClient } from "../support/official-client.ts";

/** Cancels many calls at once. */
function cancellation(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

const limits = { callsPerServer: 16, callsTotal: 64 };
const open = new AbortController().signal;
const ask = (tool: string): string =>
  `${allowAll}\n[[rule]]\ntoolName = "${tool}"\nmcpName = "*"\ndecision = "ask_user"\npriority = 900\n`;
const deny = (tool: string): string => ask(tool).replace("ask_user", "deny");
const echo = { name: "echo", arguments: { text: "here" } };
const isHere: unknown = expect.objectContaining({ content: [{ type: "text", text: "here" }] });

/** How often the server has written this line. */
async function noted(file: string, line: string): Promise<number> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.split("\n").filter((each) => each === line).length;
}

async function untilNoted(file: string, line: string, times: number): Promise<void> {
  while ((await noted(file, line)) < times) await new Promise((resolve) => setImmediate(resolve));
}

async function workshopScene(rules = allowAll): Promise<GatewayScene & { readonly notes: string }> {
  const folder = await temporaryFolder();
  const notes = join(folder.path, "notes");
  const here = await gatewayScene({ servers: { shop: stdioServer("workshop", notes) }, rules });
  return {
    ...here,
    notes,
    async [Symbol.asyncDispose]() {
      await here[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

test("the 17th call of a window waits for its turn, and does not delay another window of the same program", async () => {
  await using here = await workshopScene();
  const program = { name: "editor" };
  await using one = await officialClient(here, "legacy", {}, { ...program, conversation: "one" });
  await using other = await officialClient(here, "legacy", {}, { ...program, conversation: "other" });
  await one.client.listTools();
  const overs = Array.from({ length: 17 }, () => new AbortController());
  const hang = ({ signal }: AbortController) =>
    one.client.callTool({ name: "hang", arguments: {} }, { signal }).catch(() => {});
  const hanging = overs.slice(1).map(hang);
  await untilNoted(here.notes, "hang", 16);
  hanging.push(hang(overs[0] ?? new AbortController()));
  // Its answer comes after the gateway has read the call before it.
  await one.client.ping();
  expect(await other.client.callTool(echo)).toEqual(isHere);
  expect(await noted(here.notes, "hang")).toBe(16);
  overs[1]?.abort();
  await untilNoted(here.notes, "hang", 17);
  for (const over of overs) over.abort();
  await Promise.all(hanging);
});

test("32 calls of one HTTP session that hang do not delay another session of the same program", async () => {
  await using here = await workshopScene();
  const one = await here.client({ era: "legacy" });
  const other = await here.client({ era: "legacy" });
  await one.request("tools/list");
  const over = cancellation();
  const hang = (): Promise<unknown> =>
    one.request("tools/call", { name: "hang", arguments: {} }, { signal: over.signal }).catch(() => {});
  const hanging = Array.from({ length: 32 }, hang);
  await untilNoted(here.notes, "hang", 16);
  expect(await other.request("tools/call", echo)).toEqual(isHere);
  over.abort();
  await Promise.all(hanging);
});

test("16 questions that wait for a person do not delay calls that a rule allows", async () => {
  await using here = await workshopScene(ask("look"));
  let asked = 0;
  await using one = await officialClient(here, "legacy", { elicitation: { form: {} } }, {}, (client) =>
    client.setRequestHandler("elicitation/create", () => {
      asked += 1;
      return new Promise(() => {});
    }),
  );
  await one.client.listTools();
  const over = cancellation();
  const questions = Array.from({ length: 16 }, () =>
    one.client.callTool({ name: "look", arguments: {} }, { signal: over.signal }).catch(() => {}),
  );
  await until(() => asked > 0);
  expect(await one.client.callTool(echo)).toEqual(isHere);
  over.abort();
  await Promise.all(questions);
  expect(await noted(here.notes, "look")).toBe(0);
});

test("16 calls whose server waits for a person do not delay other calls", async () => {
  await using here = await gatewayScene({ servers: { fx: stdioServer("counted") } });
  let asked = 0;
  await using one = await officialClient(here, "legacy", { elicitation: { form: {} } }, {}, (client) =>
    client.setRequestHandler("elicitation/create", () => {
      asked += 1;
      return new Promise(() => {});
    }),
  );
  await one.client.listTools();
  const params = { message: "Size?", requestedSchema: { type: "object", properties: { size: { type: "string" } } } };
  const over = cancellation();
  const question = { name: "ask", arguments: { method: "elicitation/create", params } };
  const calls = Array.from({ length: 16 }, () =>
    one.client.callTool(question, { signal: over.signal }).catch(() => {}),
  );
  await until(() => asked === 16);
  expect(await one.client.callTool(echo)).toEqual(isHere);
  over.abort();
  await Promise.all(calls);
});

test("a call that waits for its turn is decided again if the rules have changed meanwhile", async () => {
  await using here = await workshopScene();
  await using one = await officialClient(here, "legacy");
  await one.client.listTools();
  const overs = Array.from({ length: 16 }, () => new AbortController());
  const hanging = overs.map(({ signal }) =>
    one.client.callTool({ name: "hang", arguments: {} }, { signal }).catch(() => {}),
  );
  await untilNoted(here.notes, "hang", 16);
  const waiting: Promise<JsonObject> = one.client.callTool(echo);
  // Both are sent in this order, so the call waits for its turn when this answer is there.
  await one.client.ping();
  await here.setRules(deny("echo"));
  overs[0]?.abort();
  expect(await waiting).toMatchObject({ isError: true });
  expect(await noted(here.notes, "echo")).toBe(0);
  for (const over of overs) over.abort();
  await Promise.all(hanging);
});

test("a connection has 16 open requests at a server; the next one waits until one of them ends, or leaves its turn", async () => {
  const turns = createConnectionTurns();
  const entered = Array.from({ length: 16 }, () => {
    const turn = turns.of("files");
    const leave = turn.take(limits, open);
    if (typeof leave !== "function") throw new Error("a request must wait although fewer than 16 are open");
    return { ...turn, end: leave };
  });
  const order: string[] = [];
  const wait = async (name: string): Promise<void> => {
    await turns.of("files").take(limits, open);
    order.push(name);
  };
  const waiting = ["a", "b"].map(wait);
  expect(turns.of("mail").take(limits, open)).toBeTypeOf("function");
  expect(createConnectionTurns().of("files").take(limits, open)).toBeTypeOf("function");
  entered[0]?.leave();
  await waiting[0];
  // A turn ends only once.
  entered[0]?.end();
  entered[0]?.leave();
  expect(order).toEqual(["a"]);
  entered[1]?.end();
  await waiting[1];
  expect(order).toEqual(["a", "b"]);
});

test("at most 256 requests of a connection wait for a server, and a cancelled one no longer does", async () => {
  const turns = createConnectionTurns();
  for (let at = 0; at < 16; at += 1) void turns.of("files").take(limits, open);
  const over = cancellation();
  const waiting = Array.from({ length: 256 }, async () => turns.of("files").take(limits, over.signal));
  await expect(turns.of("files").take(limits, open)).rejects.toMatchObject({ code: "busy", serverName: "files" });
  over.abort();
  expect((await Promise.allSettled(waiting)).every(({ status }) => status === "rejected")).toBe(true);
  expect(turns.of("files").take(limits, open)).toBeInstanceOf(Promise);
});
