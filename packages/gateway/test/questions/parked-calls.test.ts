import { getEventListeners } from "node:events";
import { deferred } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import type { ClientCall } from "../../src/questions/client-call.ts";
import { createParkedCalls, type ModernRequest } from "../../src/questions/parked-calls.ts";
import { startCall } from "../support/start-call.ts";
import { steppedClock } from "../support/stepped-clock.ts";

function requestOf(client: string): ModernRequest {
  const { signal } = new AbortController();
  return { id: 1, client, identity: client, capabilities: {}, logLevel: undefined, signal, notify: () => {} };
}

const asks = (call: ClientCall): Promise<JsonObject> => call.ask("elicitation/create", { message: "?" }, call.signal);

test("one client cannot use up the places of waiting requests", async () => {
  const parked = createParkedCalls({ clock: steppedClock(), mostOfClient: 2 });
  const ask = (client: string): Promise<JsonObject> => startCall(parked, requestOf(client), asks);
  await ask("greedy");
  await ask("greedy");
  await expect(ask("greedy")).rejects.toThrow("2 requests of this client are already waiting");
  expect(await ask("other")).toMatchObject({ resultType: "input_required" });
  expect(parked.size()).toBe(3);
  parked.close();
});

test("only the connection whose call waits continues it, not another window of the same program", async () => {
  const parked = createParkedCalls({ clock: steppedClock() });
  const [own, other] = [new AbortController().signal, new AbortController().signal];
  const { requestState } = await startCall(parked, { ...requestOf("one"), gone: own }, asks);
  const answer = (gone?: AbortSignal): Promise<JsonObject> =>
    parked.resume({ ...requestOf("one"), gone }, String(requestState), { question_1: { action: "accept" } });
  await expect(answer(other)).rejects.toThrow("requestState is unknown");
  await expect(answer()).rejects.toThrow("requestState is unknown");
  expect(await answer(own)).toEqual({ action: "accept" });
});

test("a question that is withdrawn at once is not sent to the client", async () => {
  const parked = createParkedCalls({ clock: steppedClock() });
  const withdrawn = deferred<void>();
  const started = startCall(parked, requestOf("one"), async (call) => {
    const withdrawal = new AbortController();
    const first = call.ask("elicitation/create", { message: "first" }, withdrawal.signal).catch(() => ({}));
    queueMicrotask(() => withdrawal.abort());
    await first;
    await withdrawn.promise;
    return call.ask("elicitation/create", { message: "second" }, call.signal);
  });
  // After the pause in which questions are collected.
  setTimeout(withdrawn.resolve, 0);
  expect(await started).toMatchObject({ inputRequests: { question_2: { params: { message: "second" } } } });
  parked.close();
});

test("a question that is still open when its call has ended is sent to the client first", async () => {
  const parked = createParkedCalls({ clock: steppedClock() });
  const answered = deferred<JsonObject>();
  const { requestState } = await startCall(parked, requestOf("one"), async (call) => {
    void call
      .ask("elicitation/create", { message: "of another call" }, new AbortController().signal)
      .then(answered.resolve);
    return { content: [] };
  });
  const answers = { question_1: { action: "accept" } };
  expect(await parked.resume(requestOf("one"), String(requestState), answers)).toEqual({ content: [] });
  expect(await answered.promise).toEqual({ action: "accept" });
});

test("an answered question leaves no listener, and its call can be aborted with the question", async () => {
  const parked = createParkedCalls({ clock: steppedClock(), mostOfClient: 1 });
  const own = new AbortController();
  let signal: AbortSignal | undefined;
  const { requestState } = await startCall(parked, requestOf("one"), (call) => {
    signal = call.signal;
    return call.ask("elicitation/create", { message: "?" }, own.signal);
  });
  expect(getEventListeners(own.signal, "abort")).toHaveLength(1);
  const refused: AbortSignal[] = [];
  const second = startCall(parked, requestOf("one"), (call) => {
    refused.push(call.signal);
    return asks(call).catch(() => ({}));
  });
  await expect(second).rejects.toThrow("1 requests of this client are already waiting for its answers");
  expect(refused.map(({ aborted }) => aborted)).toEqual([true]);
  const answers = { question_1: { action: "accept" } };
  expect(await parked.resume(requestOf("one"), String(requestState), answers)).toEqual({ action: "accept" });
  expect([getEventListeners(own.signal, "abort"), signal && getEventListeners(signal, "abort")]).toEqual([[], []]);
});
