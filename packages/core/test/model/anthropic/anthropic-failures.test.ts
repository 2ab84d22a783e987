import {
  answered,
  anthropicError,
  anthropicOverloaded,
  anthropicRateLimited,
  cutAfter,
  endsAfter,
  failsAfter,
  inTurn,
  says,
} from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { toAnthropicProblem, toAnthropicRejection } from "../../../src/model/anthropic/anthropic-failure.ts";
import { manualClock } from "../../support/manual-clock.ts";
import { all, finishOf, user } from "../../support/model-contract.ts";
import { anthropicScene } from "../../support/model-legs.ts";

test.each([
  ["is overloaded (529)", answered(anthropicOverloaded()), 1_000],
  ["is overloaded before it said anything", failsAfter(2, anthropicOverloaded()), 1_000],
  ["limits the rate (429)", answered(anthropicRateLimited(4)), 4_000],
  ["breaks off", cutAfter(0), 1_000],
  ["breaks off before it said anything", cutAfter(3), 1_000],
])("an API that %s is asked again", async (_what, fault, delayMs) => {
  const clock = manualClock();
  const answer = inTurn(says("one"), says("two"));
  const { api, model } = await anthropicScene({ answer }, { clock, random: () => 0 });
  api.interrupt("messages", fault);
  const events = [];
  for await (const event of model.stream([user("hi")], [], new AbortController().signal)) {
    events.push(event);
    if (event.type === "retry") setImmediate(() => void clock.pass(event.delayMs));
  }
  expect(events[0]).toEqual({ type: "retry", attempt: 1, delayMs, reason: expect.any(String) });
  expect(finishOf(events).reason).toBe("stop");
});

test.each([
  ["is cut", cutAfter(4), /broke off/],
  ["ends without an end", endsAfter(5), /broke off/],
  ["ends with an error", failsAfter(4, anthropicOverloaded()), /not available now \(529\): Overloaded/],
])("an answer that %s after something was said is not asked for again", async (_how, fault, message) => {
  const { api, model } = await anthropicScene({ answer: inTurn(says("one", "two")) });
  api.interrupt("messages", fault);
  await expect(all(model, [user("hi")])).rejects.toMatchObject({ code: "model", message });
  expect(api.seen).toHaveLength(1);
});

test.each([
  ["a key that is wrong", {}, { apiKey: "wrong" }, "Check ANTHROPIC_API_KEY"],
  ["a model that is unknown", { knows: () => false }, {}, "Choose another: --model NAME"],
  ["an address without a server", {}, { baseUrl: "http://127.0.0.1:9" }, "Check ANTHROPIC_BASE_URL"],
  ["a conversation that is too long", { maxInputTokens: 1 }, {}, "Begin a new conversation"],
])("%s is an error with a next step, without the key", async (_what, settings, options, next) => {
  const { model } = await anthropicScene(settings, options);
  const failure: unknown = await all(model, [user("hi")]).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "model", next: expect.stringContaining(next) });
  expect(String(failure)).not.toContain("wrong");
});

test("an empty account is told at once, and waiting is not tried", async () => {
  const { api, model } = await anthropicScene();
  const words = "Your credit balance is too low to access the Anthropic API.";
  api.interrupt("messages", answered(anthropicError(400, "invalid_request_error", words)));
  await expect(all(model, [user("hi")])).rejects.toMatchObject({ message: /has no quota left \(400\): Your credit/ });
  expect(api.seen).toHaveLength(1);
});

test("an event that is not JSON is an invalid answer", async () => {
  const { api, model } = await anthropicScene();
  api.interrupt("messages", failsAfter(0, { ...anthropicOverloaded(), body: "<html>" }));
  await expect(all(model, [user("hi")])).rejects.toMatchObject({ message: /is invalid: an event is not JSON: <html>/ });
});

const refusal = (status: number, message: string) =>
  toAnthropicProblem({ status, body: JSON.stringify({ error: { message } }) }, 0);

test.each([
  ["tools.3.custom.name: String should match pattern", 4, { declaration: 3 }],
  ["tools.4.custom.name: String should match pattern", 4, {}],
  ["tools: Tool names must be unique.", 4, {}],
  ["messages.0: see tools.1", 4, undefined],
  ["tools.0.custom.input_schema: bad", 0, undefined],
])("%s, with %i tools, is a refused tool: %j", (message, count, more) => {
  const expected = more && { type: "rejected", message, ...more };
  expect(toAnthropicRejection(refusal(400, message), count)).toEqual(expected);
});

test("a body that is not the API's is told as it is", () => {
  expect(toAnthropicProblem({ status: 502, body: " <h1>Bad gateway</h1>\n" }, 0)).toMatchObject({
    kind: "unavailable",
    message: "<h1>Bad gateway</h1>",
  });
});
