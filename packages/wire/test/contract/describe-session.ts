/** What every implementation of `Session` promises, on whatever leg it runs. */

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WireError } from "../../src/errors.ts";
import type { JsonObject, McpRequestOptions, Progress, RequestHandler, Session } from "../../src/session.ts";
import { listAll } from "../../src/shapes/lists.ts";
import { normalisePromptResult, normaliseResourceResult, normaliseToolResult } from "../../src/shapes/results.ts";
import type { ConnectOptions, Target } from "../../src/target.ts";
import { stoppedTime } from "../support/simulated-time.ts";
import type { Difference } from "./differences.ts";
import { type ContractWeb, type Leg, startWeb } from "./legs.ts";
import { createNews } from "./news.ts";

export interface Subject {
  readonly name: string;
  readonly open: (target: Target, options: ConnectOptions) => Promise<Session>;
  /** What this implementation is known to do otherwise. */
  readonly differs: ReadonlySet<Difference>;
}

/** The legs share a server on the web. */
export function describeContract(subject: Subject, legs: readonly Leg[]): void {
  let web: ContractWeb;
  beforeAll(async () => {
    web = await startWeb();
  });
  afterAll(() => web[Symbol.asyncDispose]());
  describe.concurrent.each(legs)("$transport, $era", (leg) => {
    describeSession(subject, leg, () => leg.target(web.origin));
  });
}

function describeSession({ name, open, differs }: Subject, leg: Leg, place: () => Target): void {
  const isModern = leg.era === "modern";

  // One after the other: they share a session. Legs may run beside each other.
  describe.sequential(`${name} over ${leg.transport}, ${leg.era}`, () => {
    let session: Session;
    let answer: RequestHandler = async (method) => {
      throw new Error(`unexpected ${method}`);
    };
    const news = createNews();
    const time = stoppedTime();
    /** A limit, in milliseconds, that is to run out. */
    const limit = 200;
    /** The SDK has to wait for it. */
    const runOut = (): void => {
      if (!differs.has("systemTime")) time.advance(limit);
    };

    const connect = (target = place(), era: ConnectOptions["era"] = "auto"): Promise<Session> =>
      open(target, {
        era,
        time,
        clientInfo: { name: "contract-suite", version: "1.0.0" },
        capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} },
        onRequest: (...question) => answer(...question),
        onNotification: news.take,
      });
    const call = async (tool: string, given: JsonObject = {}, options?: McpRequestOptions) =>
      normaliseToolResult(await session.request("tools/call", { name: tool, arguments: given }, options));
    const textOf = async (result: ReturnType<typeof call>): Promise<unknown> => {
      const [block] = (await result).content;
      return block?.type === "text" ? block["text"] : block;
    };

    beforeAll(async () => {
      session = await connect();
    });
    afterAll(() => session.close());

    test("the handshake tells what the server is", () => {
      expect(session).toMatchObject({
        era: leg.era,
        protocolVersion: leg.protocolVersion,
        serverInfo: { name: "contract", version: "1.2.3", title: "The contract" },
        instructions: "Use it to compare engines.",
        capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, logging: {}, completions: {} },
        protocol: { era: leg.era, transport: leg.transport },
      });
    });

    test("what was learnt about the server opens the same conversation next time; closed, it ends what is open and takes nothing more", async () => {
      const { era, protocolVersion, serverInfo, capabilities, instructions, protocol } = session;
      const again = await connect(undefined, protocol);
      expect(again).toMatchObject({ era, protocolVersion, serverInfo, capabilities, instructions, protocol });
      expect(await again.request("tools/list")).toHaveProperty("tools");
      const open = again.request("tools/call", { name: "wait", arguments: { label: randomUUID() } });
      const ended = failureOf(open);
      await again.close();
      expect(await ended).toMatchObject({ code: "closed" });
      expect(await again.closed).toBeUndefined();
      await expect(again.request("tools/list")).rejects.toMatchObject({ code: "closed" });
      await again.close();
    });

    test("lists are whole, page after page", async () => {
      const first = await session.request("tools/list");
      const tools = await listAll(session, "tools");
      const resources = await listAll(session, "resources");
      expect(first["nextCursor"]).toBe("5");
      expect(tools.items.map((tool) => tool.name)).toEqual(toolNames);
      expect(resources.items.map(({ uri }) => uri)).toEqual(
        Array.from({ length: 12 }, (_, index) => `test://resource/${index}`),
      );
      expect((await listAll(session, "resourceTemplates")).items).toHaveLength(1);
      expect((await listAll(session, "prompts")).items).toMatchObject([{ name: "greet" }]);
      expect([...tools.dropped, ...resources.dropped]).toEqual([]);
    });

    test("a tool is called and answers", async () => {
      expect(await textOf(call("echo", { text: "grüß 👋  dich" }))).toBe("grüß 👋  dich");
    });

    test("a large argument and a large result arrive whole", async () => {
      const large = "0123456789abcdef".repeat(64 * 1024);
      expect(await textOf(call("echo", { text: large }))).toBe(large);
    });

    test("a hundred calls at once get each their own answer", async () => {
      const numbers = Array.from({ length: 100 }, (_, index) => index);
      const results = await Promise.all(numbers.map((number) => call("add", { a: number, b: 1000 })));
      expect(results.map((result) => result.structuredContent)).toEqual(
        numbers.map((number) => ({ sum: number + 1000 })),
      );
    });

    test("a tool that failed is a result, not an error", async () => {
      expect(await call("fail")).toMatchObject({ isError: true, content: [{ text: "this went wrong" }] });
    });

    test("progress is told step by step, with the last step before the result", async () => {
      const steps: Progress[] = [];
      await call("count", { to: 4 }, { onProgress: (progress) => steps.push(progress) });
      const all = [1, 2, 3, 4].map((progress) => ({ progress, total: 4, message: `${progress} of 4` }));
      if (differs.has("lastProgress")) expect(all.slice(0, steps.length)).toEqual(steps);
      else expect(steps).toEqual(all);
    });

    test("progress does not stretch the absolute limit", async () => {
      const label = randomUUID();
      const options = { total: limit, timeout: 60_000, onProgress: runOut };
      await expect(call("wait", { label }, options)).rejects.toMatchObject({ code: "timeout" });
    });

    test("a cancelled call says so at once, and the server is told", async () => {
      const label = randomUUID();
      const controller = new AbortController();
      const options = { signal: controller.signal, onProgress: () => controller.abort() };
      await expect(call("wait", { label }, options)).rejects.toMatchObject({ code: "cancelled" });
      expect(await textOf(call("cancelled", { label }))).toBe(`${label} was cancelled`);
    });

    test("a call that takes too long times out, and the server is told", async () => {
      const label = randomUUID();
      const options = { timeout: limit, onProgress: runOut };
      await expect(call("wait", { label }, options)).rejects.toMatchObject({ code: "timeout" });
      // The time may be up before the server has heard of the call; then there is nothing to tell.
      if (differs.has("systemTime")) return;
      expect(await textOf(call("cancelled", { label }))).toBe(`${label} was cancelled`);
    });

    test("errors of the server keep their code, message and data", async () => {
      await expect(call("refuse")).rejects.toMatchObject({
        code: "rpc",
        message: expect.stringContaining("not today"),
        evidence: { rpc: { code: -31999, data: { until: "tomorrow" } } },
      });
      await expect(call("nothing")).rejects.toMatchObject({ code: "rpc", evidence: { rpc: { code: -32602 } } });
      const opaque = differs.has("refusal") && isModern && leg.transport === "http";
      await expect(session.request("no/such/method")).rejects.toMatchObject(
        opaque ? { code: "http_status" } : { code: "rpc", evidence: { rpc: { code: -32601 } } },
      );
    });

    test("the server asks the person, and takes yes and no for an answer", async () => {
      answer = async (method, params) => {
        expect([method, params["message"]]).toEqual(["elicitation/create", "What is your name?"]);
        return { action: "accept", content: { name: "Ada" } };
      };
      expect(await textOf(call("ask"))).toBe("accept Ada");
      answer = async () => ({ action: "decline" });
      expect(await textOf(call("ask"))).toBe("decline ");
    });

    test("the person may take longer than the server", async () => {
      const isImpatient = differs.has("patience") && !isModern;
      const options = differs.has("systemTime") && isModern ? {} : { timeout: limit };
      const answered = { action: "accept", content: { name: "Ada" } };
      answer = async () => {
        if (isImpatient) await Promise.allSettled([asking]);
        else time.advance(10 * limit);
        return answered;
      };
      const asking = call("ask", {}, options);
      if (isImpatient) await expect(asking).rejects.toMatchObject({ code: "timeout" });
      else expect(await textOf(asking)).toBe("accept Ada");
    });

    test("the server borrows the model and looks at the roots", async () => {
      answer = async (method) =>
        method === "roots/list"
          ? { roots: [{ uri: "file:///work" }, { uri: "file:///play" }] }
          : { role: "assistant", model: "parrot", content: { type: "text", text: "Something." } };
      expect(await textOf(call("sample"))).toBe("parrot: Something.");
      expect(await textOf(call("roots"))).toBe("file:///work file:///play");
    });

    test("a question that fails here fails the call, not the session", async () => {
      answer = async () => {
        throw new Error("nobody is at home");
      };
      // Only in the legacy era does the server hear of it; this one makes it the tool's failure.
      if (isModern) await expect(call("ask")).rejects.toBeInstanceOf(WireError);
      else expect(await call("ask")).toMatchObject({ isError: true });
      expect(await textOf(call("echo", { text: "still here" }))).toBe("still here");
    });

    test("changes are reported to the listener", async () => {
      const uri = "test://resource/3";
      const listening = new AbortController();
      if (isModern) {
        const filter = { toolsListChanged: true, resourceSubscriptions: [uri] };
        const options = { signal: listening.signal };
        const subscription = session.request("subscriptions/listen", { notifications: filter }, options);
        const ended = expect(subscription).rejects.toMatchObject({ code: "cancelled" });
        await news.next("notifications/subscriptions/acknowledged");
        await tellChanges();
        listening.abort();
        await ended;
      } else {
        await session.request("resources/subscribe", { uri });
        await tellChanges();
        await session.request("resources/unsubscribe", { uri });
      }

      async function tellChanges(): Promise<void> {
        const changed = news.next("notifications/tools/list_changed");
        const updated = news.next("notifications/resources/updated");
        await call("change");
        await call("touch", { uri });
        await changed;
        expect(await updated).toMatchObject({ uri });
      }
    });

    test("the server's log arrives from the level that was asked for", async () => {
      if (!isModern) await session.request("logging/setLevel", { level: "warning" });
      const message = news.next("notifications/message");
      const meta = isModern ? { _meta: { "io.modelcontextprotocol/logLevel": "warning" } } : {};
      const log = (level: string, text: string): Promise<JsonObject> =>
        session.request("tools/call", { name: "log", arguments: { level, text }, ...meta });
      await log("info", "not this one");
      await log("error", "this one");
      expect(await message).toMatchObject({ level: "error", data: "this one", logger: "contract" });
    });

    test("resources, prompts and completions are served", async () => {
      const read = await session.request("resources/read", { uri: "test://resource/1" });
      const prompt = await session.request("prompts/get", { name: "greet", arguments: { name: "Ada" } });
      const completed = await session.request("completion/complete", {
        ref: { type: "ref/prompt", name: "greet" },
        argument: { name: "name", value: "Al" },
      });
      expect(normaliseResourceResult(read, "test://resource/1").contents).toMatchObject([
        { text: "the text of test://resource/1" },
      ]);
      expect(normalisePromptResult(prompt).messages).toMatchObject([{ role: "user", content: { text: "Greet Ada." } }]);
      expect(completed).toMatchObject({ completion: { values: ["Alan"] } });
    });

    test("a server that dies takes its calls with it, and is seen to", async () => {
      await using web = leg.transport === "stdio" ? undefined : await startWeb();
      const other = await connect(leg.target(web?.origin ?? ""));
      const lastStraw: Promise<unknown>[] = [];
      const exit = (): void =>
        void lastStraw.push(failureOf(other.request("tools/call", { name: "exit", arguments: { now: true } })));
      const lost = other.request("tools/call", { name: "exit" }, { timeout: 1000, onProgress: exit });
      if (differs.has("lastWords")) {
        await expect(lost).rejects.toMatchObject({ code: expect.stringMatching(/^(closed|timeout)$/) as string });
      } else if (leg.transport === "stdio") {
        await expect(lost).rejects.toMatchObject({ code: "exited", evidence: { exitCode: 7 } });
        expect(await other.closed).toMatchObject({ code: "exited" });
      } else {
        await expect(lost).rejects.toMatchObject({ code: "stream_lost" });
      }
      await other.close();
      for (const error of await Promise.all(lastStraw)) expect(error).toBeInstanceOf(WireError);
      if (!differs.has("lastWords")) expect(lastStraw).toHaveLength(1);
    });

    test("a caller that gives up connecting is told that it did", async () => {
      const options = { clientInfo: { name: "contract-suite", version: "1.0.0" }, signal: AbortSignal.abort() };
      const opening = open(place(), options);
      if (differs.has("hurry") && isModern) await (await opening).close();
      else await expect(opening).rejects.toMatchObject({ code: "cancelled" });
    });
  });
}

/** What a promise was rejected with. */
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "it did not fail",
    (error: unknown) => error,
  );

const toolNames = "echo add count wait exit cancelled fail refuse ask sample roots change touch log".split(" ");
