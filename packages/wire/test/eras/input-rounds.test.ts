import { describe, expect, test } from "vitest";
import { WireError } from "../../src/errors.ts";
import type { JsonObject, RequestHandler } from "../../src/session.ts";
import { collected, turn } from "../support/collected.ts";
import { failure, memoryServer } from "../support/memory-server.ts";
import { modernSession } from "../support/modern-session.ts";
import { stoppedTime } from "../support/simulated-time.ts";

const elicit = (message: string): JsonObject => ({ method: "elicitation/create", params: { message } });
const inputRequired = (rest: JsonObject): JsonObject => ({ resultType: "input_required", ...rest });
const accept: RequestHandler = async (_method, params) => ({ action: "accept", content: { to: params["message"] } });

/** What each leg of a call carried besides the call itself. */
function legs(sent: readonly JsonObject[]): JsonObject[] {
  return sent.map(({ id, params }) => {
    const { inputResponses, requestState } = params as JsonObject;
    return { id, inputResponses, requestState };
  });
}

describe("a request that the server answers with questions", () => {
  test("is sent again with the answers, under a new id, until it is complete", async () => {
    const server = memoryServer();
    await using session = await modernSession(server, { onRequest: accept });
    const state = '{"à":1}\u0000 \\u0041';
    const result = session.request("tools/call", { name: "a", arguments: { x: 1 } });
    server.result(
      { id: 1 },
      inputRequired({ inputRequests: { q1: elicit("one"), q2: elicit("two") }, requestState: state }),
    );
    server.result(await server.heard("tools/call", 2), inputRequired({ inputRequests: { q3: elicit("three") } }));
    server.result(await server.heard("tools/call", 3), inputRequired({ requestState: "only state" }));
    server.result(await server.heard("tools/call", 4), { resultType: "complete", content: [] });
    expect(await result).toEqual({ resultType: "complete", content: [] });
    expect(legs(server.sent)).toEqual([
      { id: 1 },
      {
        id: 2,
        inputResponses: {
          q1: { action: "accept", content: { to: "one" } },
          q2: { action: "accept", content: { to: "two" } },
        },
        requestState: state,
      },
      { id: 3, inputResponses: { q3: { action: "accept", content: { to: "three" } } } },
      { id: 4, requestState: "only state" },
    ]);
    for (const { params } of server.sent) expect(params).toMatchObject({ name: "a", arguments: { x: 1 } });
    expect(JSON.stringify(server.sent[2])).not.toContain("requestState");
  });

  test("has one question answered at a time", async () => {
    let open = 0;
    let most = 0;
    const server = memoryServer();
    await using session = await modernSession(server, {
      onRequest: async () => {
        open += 1;
        most = Math.max(most, open);
        await new Promise((resolve) => setImmediate(resolve));
        open -= 1;
        return {};
      },
    });
    const result = session.request("tools/call", { name: "a" });
    server.result({ id: 1 }, inputRequired({ inputRequests: { a: elicit("1"), b: elicit("2"), c: elicit("3") } }));
    server.result(await server.heard("tools/call", 2), {});
    await result;
    expect(most).toBe(1);
  });

  test("keeps answers and states of different requests apart", async () => {
    const server = memoryServer({
      onMessage({ id, params }, it) {
        const { name, requestState } = params as JsonObject;
        if (requestState === undefined)
          it.result(
            { id },
            inputRequired({ inputRequests: { q: elicit(String(name)) }, requestState: `state of ${String(name)}` }),
          );
        else it.result({ id }, { name, requestState, inputResponses: (params as JsonObject)["inputResponses"] });
      },
    });
    await using session = await modernSession(server, { onRequest: accept });
    const names = ["a", "b", "c", "d"];
    expect(await Promise.all(names.map((name) => session.request("tools/call", { name })))).toEqual(
      names.map((name) => ({
        name,
        requestState: `state of ${name}`,
        inputResponses: { q: { action: "accept", content: { to: name } } },
      })),
    );
  });

  test("a question called __proto__ is answered like any other", async () => {
    const server = memoryServer();
    await using session = await modernSession(server, { onRequest: accept });
    const result = session.request("tools/call", { name: "a" });
    const inputRequests = JSON.parse(
      '{"__proto__":{"method":"elicitation/create","params":{"message":"m"}}}',
    ) as JsonObject;
    server.result({ id: 1 }, inputRequired({ inputRequests }));
    const second = await server.heard("tools/call", 2);
    expect(JSON.stringify(second)).toContain('"inputResponses":{"__proto__":{"action":"accept","content":{"to":"m"}}}');
    server.result(second, {});
    await result;
  });

  test("ends when it has asked too often", async () => {
    const server = memoryServer({
      onMessage: (message, it) => it.result(message, inputRequired({ inputRequests: { q: elicit("again") } })),
    });
    await using session = await modernSession(server, { onRequest: accept });
    expect(await failure(session.request("tools/call", { name: "a" }))).toMatchObject({
      code: "bad_message",
      message: "the server asked for input more than 8 times",
    });
    expect(server.sent).toHaveLength(9);
  });

  test("a state of 64 kB is carried, a larger one is not", async () => {
    const server = memoryServer();
    await using session = await modernSession(server, { onRequest: accept });
    const failed = failure(session.request("tools/call", { name: "a" }));
    server.result({ id: 1 }, inputRequired({ requestState: "x".repeat(65_536) }));
    server.result(await server.heard("tools/call", 2), inputRequired({ requestState: "é".repeat(32_769) }));
    expect(await failed).toMatchObject({ code: "too_large", evidence: { step: "tools/call" } });
  });

  test.each([
    ["neither questions nor a state", {}],
    ["a state that is no string", { requestState: { a: 1 } }],
    ["questions that are a list", { inputRequests: [elicit("a")] }],
    ["a question without a method", { inputRequests: { q: {} } }],
    ["a question that is nothing", { inputRequests: { q: null } }],
    [
      "too many questions",
      { inputRequests: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [i, elicit("a")])) },
    ],
  ])("with %s is a bad message", async (_, rest) => {
    const server = memoryServer();
    await using session = await modernSession(server, { onRequest: accept });
    const failed = failure(session.request("tools/call", { name: "a" }));
    server.result({ id: 1 }, inputRequired(rest));
    expect(await failed).toMatchObject({ code: "bad_message", evidence: { step: "tools/call" } });
    expect(server.sent).toHaveLength(1);
  });

  test.each<[string, RequestHandler | undefined]>([
    ["there is no handler", undefined],
    ["it is refused", () => Promise.reject(new WireError("rpc", "too many", { rpc: { code: -32000 } }))],
  ])("is declined where a person should answer and %s", async (_, handler) => {
    const server = memoryServer();
    await using session = await modernSession(server, handler && { onRequest: handler });
    const result = session.request("tools/call", { name: "a" });
    server.result({ id: 1 }, inputRequired({ inputRequests: { q: elicit("a") } }));
    const second = await server.heard("tools/call", 2);
    expect(second["params"]).toMatchObject({ inputResponses: { q: { action: "decline" } } });
    server.result(second, { content: [] });
    expect(await result).toEqual({ content: [] });
  });

  test("without a handler fails", async () => {
    const server = memoryServer();
    await using session = await modernSession(server);
    const failed = failure(session.request("tools/call", { name: "a" }));
    server.result({ id: 1 }, inputRequired({ inputRequests: { q: { method: "sampling/createMessage" } } }));
    expect(await failed).toMatchObject({
      code: "unanswered",
      message: "the server asked for sampling/createMessage, which this program cannot answer",
    });
  });

  test.each([
    ["sampling/createMessage", new WireError("rpc", "not allowed", { rpc: { code: -1 } }), "not allowed"],
    ["elicitation/create", new Error("no terminal"), "no terminal"],
  ])("whose handler throws fails with its reason, and not as if the server had reported it: %s", async (...given) => {
    const [method, thrown, why] = given;
    const server = memoryServer();
    await using session = await modernSession(server);
    session.onRequest(() => Promise.reject(thrown));
    const failed = failure(session.request("tools/call", { name: "a" }));
    server.result({ id: 1 }, inputRequired({ inputRequests: { q: { method } } }));
    const error = await failed;
    expect(error).toMatchObject({
      code: "unanswered",
      message: `the server asked for ${method}, which was not answered: ${why}`,
      cause: thrown,
    });
    expect(error.evidence).toEqual({ step: "tools/call" });
  });

  test("ends with the conversation while a person thinks, even if the handler does not listen; it may have run", async () => {
    const server = memoryServer();
    let asked: (signal: AbortSignal) => void = () => {};
    const isAsked = new Promise<AbortSignal>((resolve) => {
      asked = resolve;
    });
    await using session = await modernSession(server, {
      onRequest(_method, _params, signal) {
        asked(signal);
        return new Promise(() => {});
      },
    });
    const failed = failure(session.request("tools/call", { name: "a" }));
    server.result({ id: 1 }, inputRequired({ inputRequests: { q: elicit("a") } }));
    const signal = await isAsked;
    server.hangUp(new WireError("exited", "the server exited with code 3", { exitCode: 3 }));
    const error = await failed;
    expect([error.code, error.evidence]).toEqual(["exited", { exitCode: 3, step: "tools/call" }]);
    expect(signal.aborted).toBe(true);
  });

  test("has left, whatever becomes of its later messages", async () => {
    let legs = 0;
    const server = memoryServer({
      onSend() {
        legs += 1;
        if (legs > 1) throw new WireError("http_status", "busy", { httpStatus: 503, retryAfter: "1", unsent: true });
      },
    });
    await using session = await modernSession(server, { onRequest: accept });
    const failed = failure(session.request("tools/call", { name: "a" }));
    server.result({ id: 1 }, inputRequired({ inputRequests: { q: elicit("a") } }));
    expect((await failed).evidence).toEqual({ httpStatus: 503, retryAfter: "1", step: "tools/call" });
  });

  test("can be cancelled while a person thinks, even if the handler does not listen", async () => {
    const caller = new AbortController();
    const server = memoryServer();
    const asked = collected<AbortSignal>();
    await using session = await modernSession(server, {
      onRequest: (_method, _params, signal) => {
        asked.add(signal);
        return new Promise(() => {});
      },
    });
    const failed = failure(session.request("tools/call", { name: "a" }, { signal: caller.signal }));
    server.result({ id: 1 }, inputRequired({ inputRequests: { q: elicit("a") } }));
    const [signal] = await asked.reached(1);
    caller.abort();
    expect(signal?.aborted).toBe(true);
    expect(await failed).toMatchObject({ code: "cancelled", evidence: { step: "tools/call" } });
  });

  test("does not run out of time while a person thinks, but does while the server works", async () => {
    const server = memoryServer();
    const time = stoppedTime();
    const thinks = async (): Promise<JsonObject> => {
      await turn();
      time.advance(60_000);
      return {};
    };
    await using session = await modernSession(server, { time, onRequest: thinks });
    const given = { timeout: 600, total: 600 };
    const [fine, late] = [
      session.request("tools/call", { name: "a" }, given),
      failure(session.request("tools/call", { name: "b" }, given)),
    ];
    for (const id of [1, 2]) server.result({ id }, inputRequired({ inputRequests: { q: elicit("a") } }));
    server.result(await server.heard("tools/call", 3), { ok: true });
    await server.heard("tools/call", 4);
    time.advance(600);
    expect(await fine).toEqual({ ok: true });
    expect(await late).toMatchObject({ code: "timeout" });
  });
});

describe("questions that nothing can be made of", () => {
  const deep = (): unknown => JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`);

  test.each<[string, () => JsonObject]>([
    ["a type without end", () => ({ resultType: deep() })],
    ["a method without end", () => inputRequired({ inputRequests: { q: { method: deep() } } })],
    [
      "a method that converts to nothing",
      () => inputRequired({ inputRequests: { q: { method: { toString: 1, valueOf: 1 } } } }),
    ],
  ])("are a bad message, in few words: %s", async (_, result) => {
    const server = memoryServer();
    await using session = await modernSession(server);
    const failed = failure(session.request("tools/call", { name: "a" }));
    server.result({ id: 1 }, result());
    const error = await failed;
    expect(error).toBeInstanceOf(WireError);
    expect(error).toMatchObject({ code: "bad_message", evidence: { step: "tools/call" } });
    expect(error.message.length).toBeLessThan(200);
  });

  test.each<[string, RequestHandler | undefined]>([
    ["default", undefined],
    ["a handler", () => Promise.reject(new Error("no"))],
  ])("with a method of a megabyte, left unanswered by %s, are told in few words, too", async (_, handler) => {
    const server = memoryServer();
    await using session = await modernSession(server, handler && { onRequest: handler });
    const failed = failure(session.request("tools/call", { name: "a" }));
    server.result({ id: 1 }, inputRequired({ inputRequests: { q: { method: "x".repeat(1_000_000) } } }));
    const error = await failed;
    expect(error).toMatchObject({ code: "unanswered", evidence: { step: "tools/call" } });
    expect(error.message.length).toBeLessThan(200);
  });
});
