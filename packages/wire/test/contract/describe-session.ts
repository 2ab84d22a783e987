/** What every implementation of `Session` promises, on whatever leg it runs. */

import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WireError } from "../../src/errors.ts";
import { listAll } from "../../src/lists.ts";
import { normalisePromptResult, normaliseResourceResult, normaliseToolResult } from "../../src/results.ts";
import type { JsonObject, Progress, RequestHandler, RequestOptions, Session } from "../../src/session.ts";
import type { ConnectOptions, Target } from "../../src/target.ts";
import type { Difference } from "./differences.ts";
import { type Leg, type Place, prepareLeg } from "./legs.ts";
import { createNews } from "./news.ts";

export interface Subject {
  readonly name: string;
  readonly open: (target: Target, options: ConnectOptions) => Promise<Session>;
  /** What this implementation is known to do otherwise. */
  readonly differs: ReadonlySet<Difference>;
}

export function describeSession({ name, open, differs }: Subject, leg: Leg): void {
  const isModern = leg.era === "modern";

  // One after the other: they share a session. Legs may run beside each other.
  describe.sequential(`${name} over ${leg.transport}, ${leg.era}`, () => {
    let place: Place;
    let session: Session;
    let answer: RequestHandler = async (method) => {
      throw new Error(`nobody expected ${method}`);
    };
    const news = createNews();

    const connect = ({ target } = place, era: ConnectOptions["era"] = "auto"): Promise<Session> =>
      open(target, {
        era,
        clientInfo: { name: "contract-suite", version: "1.0.0" },
        capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} },
        onRequest: (...question) => answer(...question),
        onNotification: news.take,
      });
    const call = async (tool: string, given: JsonObject = {}, options?: RequestOptions) =>
      normaliseToolResult(await session.request("tools/call", { name: tool, arguments: given }, options));
    const textOf = async (result: ReturnType<typeof call>): Promise<unknown> => {
      const [block] = (await result).content;
      return block?.type === "text" ? block["text"] : block;
    };

    beforeAll(async () => {
      place = await prepareLeg(leg);
      session = await connect();
    });
    afterAll(async () => {
      await session.close();
      await place[Symbol.asyncDispose]();
    });

    test("the handshake tells what the server is", () => {
      expect(session).toMatchObject({
        era: leg.era,
        protocolVersion: leg.protocolVersion,
        serverInfo: { name: "contract", version: "1.2.3", title: "The contract" },
        instructions: "Use it to compare engines.",
        capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, logging: {}, completions: {} },
        verdict: { era: leg.era, transport: leg.transport },
      });
    });

    test("what was learnt about the server opens the same conversation next time", async () => {
      const { era, protocolVersion, serverInfo, capabilities, instructions, verdict } = session;
      const again = await connect(place, verdict);
      expect(again).toMatchObject({ era, protocolVersion, serverInfo, capabilities, instructions, verdict });
      expect(await again.request("tools/list")).toHaveProperty("tools");
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
      const options = { total: 500, timeout: 60_000, onProgress: () => {} };
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
      const options = { timeout: 500, onProgress: () => {} };
      await expect(call("wait", { label }, options)).rejects.toMatchObject({ code: "timeout" });
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
      answer = async () => {
        await delay(1000);
        return { action: "accept", content: { name: "Ada" } };
      };
      const patient = call("ask", {}, { timeout: 700 });
      if (differs.has("patience") && !isModern) await expect(patient).rejects.toMatchObject({ code: "timeout" });
      else expect(await textOf(patient)).toBe("accept Ada");
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

    test("changes are told to whoever listens", async () => {
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

    test("a closed session ends what is open and takes nothing more", async () => {
      const other = await connect();
      const open = other.request("tools/call", { name: "wait", arguments: { label: randomUUID() } });
      const ended = expect(open).rejects.toMatchObject({ code: "closed" });
      await other.close();
      await ended;
      expect(await other.closed).toBeUndefined();
      await expect(other.request("tools/list")).rejects.toMatchObject({ code: "closed" });
      await other.close();
    });

    test("a server that dies takes its calls with it, and is seen to", async () => {
      await using doomed = await prepareLeg(leg);
      const other = await connect(doomed);
      const lost = other.request("tools/call", { name: "exit" }, { timeout: 1500, onProgress: () => {} });
      if (differs.has("lastWords")) {
        await expect(lost).rejects.toMatchObject({ code: expect.stringMatching(/^(closed|timeout)$/) as string });
      } else if (leg.transport === "stdio") {
        await expect(lost).rejects.toMatchObject({ code: "exited", evidence: { exitCode: 7 } });
        expect(await other.closed).toMatchObject({ code: "exited" });
      } else {
        await expect(lost).rejects.toMatchObject({ code: "stream_lost" });
      }
      await other.close();
    });

    test("a caller that gives up connecting is told that it did", async () => {
      const options = { clientInfo: { name: "contract-suite", version: "1.0.0" }, signal: AbortSignal.abort() };
      const opening = open(place.target, options);
      if (differs.has("hurry") && isModern) await (await opening).close();
      else await expect(opening).rejects.toMatchObject({ code: "cancelled" });
    });
  });
}

const toolNames = "echo add count wait exit cancelled fail refuse ask sample roots change touch log".split(" ");
