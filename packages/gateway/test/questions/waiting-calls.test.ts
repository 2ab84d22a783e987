import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import type { ClientCall } from "../../src/questions/client-call.ts";
import { createParkedCalls, isParkedState, type ModernRequest } from "../../src/questions/parked-calls.ts";
import { startCall } from "../support/start-call.ts";
import { steppedClock } from "../support/stepped-clock.ts";

function requestOf(changes: Partial<ModernRequest> = {}): ModernRequest {
  return {
    id: 1,
    client: "ann",
    identity: "i1",
    capabilities: {},
    logLevel: undefined,
    signal: new AbortController().signal,
    notify: () => {},
    ...changes,
  };
}

const elicit = "elicitation/create";
const ask = (call: ClientCall, message = "?", signal = call.signal): Promise<JsonObject> =>
  call.ask(elicit, { message }, signal);
const unknownState = {
  message:
    "requestState is unknown or was used before: the request may have run; check what it did before you send it again",
  evidence: { rpc: { code: -32602, data: { reason: "invalid_request_state" } } },
};
const cancelledQuestion = {
  message: "the question was cancelled before the client answered it",
  evidence: { rpc: { code: -32603 } },
};

/** Starts a call that asks one question. `ended`: what became of the question. */
async function asking(parked: ReturnType<typeof createParkedCalls>, request = requestOf()) {
  let ended: Promise<JsonObject> = Promise.resolve({});
  let signal: AbortSignal | undefined;
  const result = await startCall(parked, request, (call) => {
    signal = call.signal;
    ended = ask(call);
    ended.catch(() => {});
    return ended;
  });
  return { result, state: String(result["requestState"]), ended, isCancelled: () => signal?.aborted };
}

test("a call without questions ends with its own result or error", async () => {
  const parked = createParkedCalls({ clock: steppedClock() });
  expect(await startCall(parked, requestOf(), async () => ({ a: 1 }))).toEqual({ a: 1 });
  await expect(startCall(parked, requestOf(), () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(parked.size()).toBe(0);
});

test("questions that are asked together reach the client together, without ids that mean nothing to it", async () => {
  const parked = createParkedCalls({ clock: steppedClock() });
  const result = await startCall(parked, requestOf(), async (call) => {
    const params = { message: "a", elicitationId: "e", _meta: { progressToken: 1, own: 2 } };
    const first = call.ask(elicit, params, call.signal);
    const second = call.ask("roots/list", { _meta: { progressToken: 1 } }, call.signal);
    return { answers: await Promise.all([first, second]) };
  });
  expect(result).toEqual({
    resultType: "input_required",
    inputRequests: {
      question_1: { method: elicit, params: { message: "a", _meta: { own: 2 } } },
      question_2: { method: "roots/list", params: {} },
    },
    requestState: expect.stringMatching(/^fairlead-parked[.][\w-]{22}$/),
  });
  expect([isParkedState(result["requestState"]), isParkedState("fairlead-yes.a"), isParkedState(1)]).toEqual([
    true,
    false,
    false,
  ]);
  const answers = { question_1: { action: "accept" }, question_2: { roots: [] } };
  expect(await parked.resume(requestOf(), String(result["requestState"]), answers)).toEqual({
    answers: [{ action: "accept" }, { roots: [] }],
  });
});

test("a question without a usable answer is asked again, under its own name", async () => {
  const parked = createParkedCalls({ clock: steppedClock() });
  const first = await startCall(parked, requestOf(), async (call) => ({
    answers: await Promise.all([ask(call, "a"), ask(call, "b")]),
  }));
  const given = { question_1: { one: 1 }, question_2: "text", question_3: {} };
  const second = await parked.resume(requestOf(), String(first["requestState"]), given);
  expect(second["inputRequests"]).toEqual({ question_2: { method: elicit, params: { message: "b" } } });
  expect(second["requestState"]).not.toBe(first["requestState"]);
  expect(await parked.resume(requestOf(), String(second["requestState"]), { question_2: { two: 2 } })).toEqual({
    answers: [{ one: 1 }, { two: 2 }],
  });
});

test("a state continues the same request only, and once", async () => {
  const parked = createParkedCalls({ clock: steppedClock() });
  const { state } = await asking(parked);
  await expect(parked.resume(requestOf({ identity: "i2" }), state, {})).rejects.toMatchObject(unknownState);
  await expect(parked.resume(requestOf(), "fairlead-parked.x", {})).rejects.toMatchObject(unknownState);
  expect(parked.size()).toBe(1);
  expect(await parked.resume(requestOf(), state, { question_1: { a: 1 } })).toEqual({ a: 1 });
  expect(parked.size()).toBe(0);
  await expect(parked.resume(requestOf(), state, {})).rejects.toMatchObject(unknownState);
});

test("a continued call has the id, the capabilities, the level and the notifications of the latest request", async () => {
  const parked = createParkedCalls({ clock: steppedClock() });
  const told: unknown[] = [];
  const request = (name: string): ModernRequest =>
    requestOf({
      id: name,
      capabilities: { [name]: {} },
      logLevel: name,
      notify: (method, params) => told.push([name, method, params]),
    });
  const facts = (call: ClientCall): unknown[] => [call.era, call.id, call.capabilities, call.logLevel];
  const { requestState } = await startCall(parked, request("first"), async (call) => {
    call.notify("m", { n: 1 });
    const before = facts(call);
    await ask(call);
    call.notify("m", { n: 2 });
    return { before, after: facts(call) };
  });
  expect(await parked.resume(request("second"), String(requestState), { question_1: {} })).toEqual({
    before: ["modern", "first", { first: {} }, "first"],
    after: ["modern", "second", { second: {} }, "second"],
  });
  expect(told).toEqual([
    ["first", "m", { n: 1 }],
    ["second", "m", { n: 2 }],
  ]);
});

test("a call that its client does not continue is cancelled after ten minutes", async () => {
  const clock = steppedClock();
  const parked = createParkedCalls({ clock });
  const { state, ended, isCancelled } = await asking(parked);
  await clock.fire(600_000);
  expect([isCancelled(), parked.size()]).toEqual([true, 0]);
  await expect(ended).rejects.toMatchObject(cancelledQuestion);
  await expect(parked.resume(requestOf(), state, {})).rejects.toMatchObject(unknownState);
});

test("a call that was continued and has ended is no longer cancelled by the time or by its connection", async () => {
  const clock = steppedClock();
  const parked = createParkedCalls({ clock });
  const gone = new AbortController();
  const { state, isCancelled } = await asking(parked, requestOf({ gone: gone.signal }));
  expect(clock.pending()).toBe(1);
  await parked.resume(requestOf({ gone: gone.signal }), state, { question_1: {} });
  expect(clock.pending()).toBe(0);
  gone.abort();
  expect(isCancelled()).toBe(false);
});

test("a waiting call is cancelled when its client disconnects, also if it has done so before", async () => {
  const clock = steppedClock();
  const parked = createParkedCalls({ clock });
  const gone = new AbortController();
  const waiting = await asking(parked, requestOf({ gone: gone.signal }));
  expect(waiting.isCancelled()).toBe(false);
  gone.abort();
  const late = await asking(parked, requestOf({ gone: gone.signal }));
  expect([waiting.isCancelled(), late.isCancelled(), parked.size(), clock.pending()]).toEqual([true, true, 0, 0]);
});

test("a request that is cancelled cancels its call until the client has been asked", async () => {
  const parked = createParkedCalls({ clock: steppedClock() });
  const [early, first, second] = [new AbortController(), new AbortController(), new AbortController()];
  early.abort();
  const failed = startCall(parked, requestOf({ signal: early.signal }), (call) => ask(call));
  await expect(failed).rejects.toMatchObject(cancelledQuestion);
  const { state, isCancelled } = await asking(parked, requestOf({ signal: first.signal }));
  first.abort();
  expect(isCancelled()).toBe(false);
  const resumed = parked.resume(requestOf({ signal: second.signal }), state, {});
  second.abort();
  await expect(resumed).rejects.toMatchObject(cancelledQuestion);
  expect(isCancelled()).toBe(true);
});

test("a withdrawn question fails for the server, and is not asked", async () => {
  const parked = createParkedCalls({ clock: steppedClock() });
  const withdrawal = new AbortController();
  const result = await startCall(parked, requestOf(), async (call) => {
    const withdrawn = ask(call, "a", withdrawal.signal);
    const answer = ask(call, "b");
    withdrawal.abort();
    await expect(withdrawn).rejects.toMatchObject(cancelledQuestion);
    await expect(ask(call, "c", withdrawal.signal)).rejects.toMatchObject(cancelledQuestion);
    return answer;
  });
  expect(result["inputRequests"]).toEqual({ question_2: { method: elicit, params: { message: "b" } } });
  parked.close();
});

test("no more than 1000 calls wait, of which 100 may belong to one client; others are cancelled", async () => {
  const parked = createParkedCalls({ clock: steppedClock() });
  const clients = Array.from({ length: 10 }, (_, at) => `client ${at}`);
  for (const client of clients)
    await Promise.all(Array.from({ length: 99 }, () => asking(parked, requestOf({ client }))));
  await asking(parked, requestOf({ client: "client 0" }));
  await expect(asking(parked, requestOf({ client: "client 0" }))).rejects.toMatchObject({
    message: "too many requests: 100 requests of this client are already waiting for its answers",
    evidence: { rpc: { code: -32603 } },
  });
  for (let count = 0; count < 9; count += 1) await asking(parked);
  let refused: AbortSignal | undefined;
  const oneMore = startCall(parked, requestOf({ client: "eve" }), (call) => {
    refused = call.signal;
    const asked = ask(call);
    asked.catch(() => {});
    return asked;
  });
  await expect(oneMore).rejects.toMatchObject({
    message: "too many requests: 1000 requests are already waiting for answers of their clients",
    evidence: { rpc: { code: -32603 } },
  });
  expect([refused?.aborted, parked.size()]).toEqual([true, 1000]);
  parked.close();
});

test("closing cancels all waiting calls and their timers", async () => {
  const clock = steppedClock();
  const parked = createParkedCalls({ clock });
  const calls = [await asking(parked), await asking(parked)];
  parked.close();
  expect(calls.map(({ isCancelled }) => isCancelled())).toEqual([true, true]);
  expect([parked.size(), clock.pending()]).toEqual([0, 0]);
});
