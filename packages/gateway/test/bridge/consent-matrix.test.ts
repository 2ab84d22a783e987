import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import type { Era, JsonObject, RequestHandler } from "@fairlead/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GatewayScene, gatewayScene } from "../support/gateway-scene.ts";
import { type SteppedClock, steppedClock } from "../support/stepped-clock.ts";

/** What a client declares. */
const kinds = {
  nothing: {},
  forms: { elicitation: { form: {} } },
  addresses: { elicitation: { form: {}, url: {} } },
} as const;
const cells = (["legacy", "modern"] as const).flatMap((era) =>
  (["nothing", "forms", "addresses"] as const).map((kind) => [era, kind] as const),
);
const ask = '[[rule]]\nmcpName = "counted"\ntoolName = "*"\ndecision = "ask_user"\npriority = 500\n';

let here: GatewayScene;
let clock: SteppedClock;
let notes: string;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let calls = 0;

beforeAll(async () => {
  folder = await temporaryFolder();
  clock = steppedClock();
  notes = join(folder.path, "notes");
  here = await gatewayScene({ servers: { counted: stdioServer("counted", notes) }, rules: ask, clock });
});

afterAll(async () => {
  const ran = readFileSync(notes, "utf8").match(/^call echo /gm)?.length;
  process.stderr.write(
    `consent: ${calls} calls from ${cells.length} kinds of clients, of which the server ran the ${ran} that a person allowed\n`,
  );
  await here[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** How often the server has run a call with this text. */
function effects(text: string): number {
  const lines = existsSync(notes) ? readFileSync(notes, "utf8").split("\n") : [];
  return lines.filter((line) => line === `call echo ${JSON.stringify({ text })}`).length;
}

/** A new text for each call, so that no answer is about another call. */
function nextCall() {
  calls += 1;
  const text = `text ${calls}`;
  return { text, params: { name: "echo", arguments: { text } } };
}

/** A person who answers every question with this decision, where it is asked. */
function person(decision: "once" | "no"): RequestHandler {
  return async (_, params): Promise<JsonObject> => {
    // A person needs time to read.
    clock.pass(500);
    if (params["mode"] !== "url") return { action: "accept", content: { decision } };
    await here.pages.visit(params["url"]).answer(decision);
    return { action: "accept" };
  };
}

const connect = (era: Era, kind: keyof typeof kinds, answer?: RequestHandler) =>
  here.client({ era, only: "counted", capabilities: kinds[kind], ...(answer && { answer }) });

function textOf({ content }: JsonObject): string {
  return JSON.stringify(content);
}

function idIn(result: JsonObject): string {
  return /approvals allow (\w+)/.exec(textOf(result))?.[1] ?? "";
}

/** Waits for the question about this call, and answers it in the inbox. */
async function answerInInbox(text: string, decision: "once" | "no"): Promise<void> {
  for (;;) {
    const entry = (await here.inbox.list()).find(({ args }) => args["text"] === text);
    if (entry !== undefined) return void (await here.inbox.answer(entry.id, decision, "the terminal"));
    await new Promise(setImmediate);
  }
}

test.for(cells)("a yes of a %s client with %s runs the call once", async ([era, kind]) => {
  const client = await connect(era, kind, person("once"));
  const { text, params } = nextCall();
  const watching = kind === "nothing" ? await here.inbox.watch(() => {}) : undefined;
  const running = client.request("tools/call", params);
  if (kind === "nothing") await answerInInbox(text, "once");
  expect(textOf(await running)).toContain(text);
  await watching?.[Symbol.asyncDispose]();
  expect(effects(text)).toBe(1);
});

test.for(cells)("a no of a %s client with %s runs nothing", async ([era, kind]) => {
  const client = await connect(era, kind, person("no"));
  const { text, params } = nextCall();
  const watching = kind === "nothing" ? await here.inbox.watch(() => {}) : undefined;
  const running = client.request("tools/call", params);
  if (kind === "nothing") await answerInInbox(text, "no");
  expect(await running).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("declined") }] });
  await watching?.[Symbol.asyncDispose]();
  expect(effects(text)).toBe(0);
});

test.for(cells)(
  "without an answer a %s client with %s is told how to approve, and a late yes runs one call",
  async ([era, kind]) => {
    // The person leaves the question open.
    const client = await connect(era, kind, () => new Promise(() => {}));
    const { text, params } = nextCall();
    const raw = { input: "caller" as const };
    let refused: JsonObject;
    if (kind === "nothing") refused = await client.request("tools/call", params);
    else if (era === "legacy") {
      const running = client.request("tools/call", params);
      await clock.fire(300_000);
      refused = await running;
    } else {
      const asked = await client.request("tools/call", params, raw);
      await clock.fire(300_000);
      // The client's own yes comes too late.
      const inputResponses = { question_1: { action: "accept", content: { decision: "once" } } };
      const again = { ...params, requestState: asked["requestState"], inputResponses };
      refused = await client.request("tools/call", again, raw);
    }
    expect(textOf(refused)).toContain(
      "Not run: counted.echo needs approval. To approve it, run: fairlead approvals allow",
    );
    // The message has the command already.
    expect(textOf(refused)).not.toContain("Next:");
    expect(refused["isError"]).toBe(true);
    expect(effects(text)).toBe(0);

    await here.inbox.answer(idIn(refused), "once", "fairlead approvals");
    expect(effects(text)).toBe(0);
    expect(textOf(await client.request("tools/call", params))).toContain(text);
    expect(effects(text)).toBe(1);
    if (kind === "nothing") expect(await client.request("tools/call", params)).toMatchObject({ isError: true });
    expect(effects(text)).toBe(1);
  },
);

test("a client that cancels while its user is asked runs nothing", async () => {
  const asked: AbortSignal[] = [];
  const client = await connect("legacy", "forms", (_, __, signal) => {
    asked.push(signal);
    return new Promise(() => {});
  });
  const { text, params } = nextCall();
  const cancel = new AbortController();
  const running = client.request("tools/call", params, { signal: cancel.signal });
  while (asked.length === 0) await new Promise(setImmediate);
  cancel.abort();
  await expect(running).rejects.toMatchObject({ code: "cancelled" });
  while ((await here.inbox.list()).some(({ args }) => args["text"] === text)) await new Promise(setImmediate);
  expect(effects(text)).toBe(0);
});

test("the question to a client says that a policy file is not valid TOML, with line and cause", async () => {
  await using here = await gatewayScene({ servers: { s: stdioServer("counted") }, rules: "[[rule]]\na = ]\n" });
  const asked: unknown[] = [];
  const client = await here.client({
    era: "legacy",
    capabilities: { elicitation: { form: {} } },
    async answer(_method, { message }) {
      asked.push(message);
      return { action: "accept", content: { answer: "no" } };
    },
  });
  await Promise.allSettled([client.request("tools/call", { name: "echo", arguments: {} })]);
  expect(asked).toEqual([expect.stringContaining("user.toml:2: the file is not valid TOML: Unexpected token")]);
});
