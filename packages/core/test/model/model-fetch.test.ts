import {
  answered,
  endsAfter,
  failsAfter,
  geminiApi,
  inTurn,
  overloaded,
  refusingProxy,
  says,
  stallsAfter,
  until,
  webServer,
} from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { limits } from "../../src/limits.ts";
import type { Model } from "../../src/model/model.ts";
import { createModelFetch } from "../../src/model/model-fetch.ts";
import { manualClock } from "../support/manual-clock.ts";
import { all, user } from "../support/model-contract.ts";
import { geminiScene } from "../support/model-legs.ts";

test("models are asked through the proxy that the environment names", async () => {
  await using proxy = await refusingProxy(403);
  const fetch = createModelFetch({ env: { HTTPS_PROXY: proxy.origin }, clock: systemClock });
  const { model } = await geminiScene({}, { fetch, baseUrl: "https://models.example" });
  await expect(all(model, [user("hi")])).rejects.toMatchObject({
    code: "model",
    message: /the proxy answered with HTTP status 403/,
  });
  expect(proxy.asked).toEqual(["models.example:443"]);
});

test("a redirect is not followed: the key stays where it was meant to go", async () => {
  await using elsewhere = await geminiApi({ answer: inTurn(says("caught")) });
  const { api, model } = await geminiScene();
  const redirect = { status: 307, headers: { location: elsewhere.baseUrl }, body: "", pieces: [] };
  api.interrupt("generate", answered(redirect));
  await expect(all(model, [user("hi")])).rejects.toMatchObject({ code: "model" });
  expect(elsewhere.seen).toEqual([]);
});

test("who says nothing for too long is not waited for, before an answer or within it", async () => {
  for (const events of [0, 1]) {
    const clock = manualClock();
    const fetch = createModelFetch({ env: {}, clock, timeout: 5_000 });
    const { api, model } = await geminiScene({ answer: inTurn(says("one", "two")) }, { fetch });
    api.interrupt("generate", stallsAfter(events));
    const reading = all(model, [user("hi")]);
    const outcome = expect(reading).rejects.toMatchObject({ code: "model", message: /sent no data for 5 s/ });
    await until(() => api.seen.length > 0);
    await clock.pass(10_000);
    await outcome;
  }
});

test.each<[string, ReturnType<typeof answered>, string]>([
  ["to its end", endsAfter(9), "finish"],
  ["to its first word", stallsAfter(1), "text"],
  ["until it fails", failsAfter(1, overloaded()), "failure"],
  ["until it is no JSON", answered(openStream("nonsense")), "failure"],
  ["until it makes no sense", answered(openStream('{"candidates":[{"content":{"parts":5}}]}')), "failure"],
])("of an answer that is read %s nothing is left: no timer, no connection", async (_how, fault, last) => {
  const clock = manualClock();
  const fetch = createModelFetch({ env: {}, clock });
  const { api, model } = await geminiScene({ answer: inTurn(says("one", "two")) }, { fetch });
  api.interrupt("generate", fault);
  expect(await readUntil(model, last)).toBe(last);
  expect(clock.pending()).toBe(0);
  await until(() => api.seen[0]?.outcome !== "open");
});

/** The type of the event at which reading was given up; "failure" if it threw. */
async function readUntil(model: Model, last: string): Promise<string | undefined> {
  try {
    for await (const { type } of model.stream([user("hi")], [], new AbortController().signal))
      if (type === last) return type;
    return undefined;
  } catch {
    return "failure";
  }
}

/** A stream that stays open: the caller must end it. */
function openStream(data: string): Parameters<typeof answered>[0] {
  const pieces = [`data: ${data}\n\n`, new Promise(() => {})];
  return { status: 200, headers: { "content-type": "text/event-stream" }, body: "", pieces };
}

test("an answer without an end has one", async () => {
  const block = Buffer.alloc(1_048_576, " ");
  await using web = await webServer((_request, response) => {
    const write = (): void => {
      while (!response.destroyed && response.write(block));
    };
    response.on("drain", write);
    write();
  });
  const fetch = createModelFetch({ env: {}, clock: systemClock });
  const response = await fetch(web.origin);
  await expect(response.text()).rejects.toMatchObject({ code: "model", message: /larger than 33\.6 MB/ });
  expect(limits.modelAnswerBytes).toBe(33_554_432);
});

test("an answer without a body has none", async () => {
  await using web = await webServer((_request, response) => void response.writeHead(204).end());
  const response = await createModelFetch({ env: {}, clock: systemClock })(web.origin);
  expect([response.status, await response.text()]).toEqual([204, ""]);
});
