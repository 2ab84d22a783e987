import { expect, test } from "vitest";
import { HostError } from "../../../src/errors.ts";
import { findOllama, ollamaModel, onlyModelOf, openaiModelList } from "../../../src/model/openai/openai-models.ts";
import { manualClock } from "../../support/manual-clock.ts";

/** A `fetch` that answers from a function, and the requests that it got. */
function fetching(answer: () => Response | Promise<Response>) {
  const seen: unknown[] = [];
  const fetch = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    seen.push([String(url), init.headers]);
    return answer();
  };
  return { seen, fetch };
}

const json =
  (value: unknown, status = 200) =>
  () =>
    new Response(JSON.stringify(value), { status });
const models = (count: number) => ({ data: Array.from({ length: count }, (_, at) => ({ id: `m${at + 1}` })) });
const base = "http://localhost:1/v1";

async function only(answer: () => Response | Promise<Response>, apiKey?: string, signal?: AbortSignal) {
  const [clock, { seen, fetch }] = [manualClock(), fetching(answer)];
  try {
    return {
      model: await onlyModelOf(openaiModelList(base, apiKey), { fetch, clock, signal }),
      seen,
      pending: clock.pending(),
    };
  } catch (error) {
    return { error, seen, pending: clock.pending() };
  }
}

test("the client takes the only model of an endpoint, and sends its key if it has one", async () => {
  const url = "http://localhost:1/v1/models";
  expect(await only(json(models(1)))).toEqual({ model: "m1", seen: [[url, {}]], pending: 0 });
  expect(await only(json(models(1)), "k")).toEqual({
    model: "m1",
    seen: [[url, { authorization: "Bearer k" }]],
    pending: 0,
  });
  expect(await only(json({ data: [null, {}, { id: 1 }, { id: "m" }] }))).toMatchObject({ model: "m" });
});

const eight = "m1, m2, m3, m4, m5, m6, m7, m8";

test.each<[string, () => Response, string]>([
  ["two models", json(models(2)), "m1, m2"],
  ["eight models", json(models(8)), eight],
  ["ten models", json(models(10)), `${eight} and 2 more`],
  ["no model", json(models(0)), "no list of models"],
  ["no list", json({ data: "m" }), "no list of models"],
  ["an error", json(models(1), 500), "no list of models"],
  ["no JSON", () => new Response("<h1>"), "no list of models"],
])("the user reads which models there are, if the endpoint offers %s", async (_what, answer, offered) => {
  expect((await only(answer)).error).toMatchObject({
    code: "model",
    message: `no model chosen for http://localhost:1: the endpoint offers ${offered}`,
    next: "Name one: --model NAME",
  });
});

const failing = (error: Error) => () => Promise.reject(error);

test("the user reads why the list of models could not be read", async () => {
  const unreachable = new HostError("unreachable", "the server does not answer");
  expect(await only(failing(unreachable))).toMatchObject({
    error: {
      code: "model",
      message: "the server does not answer",
      next: "Start the server, or check OPENAI_BASE_URL.",
      cause: unreachable,
    },
    pending: 0,
  });
  const defect = new TypeError("a defect");
  expect((await only(failing(defect))).error).toBe(defect);
  expect((await only(failing(unreachable), undefined, AbortSignal.abort())).error).toMatchObject({ code: "cancelled" });
});

test("the user reads that an endpoint sent no list within ten seconds", async () => {
  const clock = manualClock();
  const fetch = (_url: string | URL, { signal }: RequestInit = {}) =>
    new Promise<Response>((_, reject) => signal?.addEventListener("abort", () => reject(new HostError("lost", "x"))));
  const waiting = onlyModelOf(openaiModelList(base, undefined), { fetch, clock });
  const failed = expect(waiting).rejects.toMatchObject({
    code: "model",
    message: "http://localhost:1 sent no list of models within 10 s",
    next: "Name one: --model NAME",
  });
  await clock.pass(10_000);
  await failed;
  expect(clock.pending()).toBe(0);
});

test("the client finds the models of a running Ollama, and nothing if none runs", async () => {
  const clock = manualClock();
  const find = (answer: () => Response | Promise<Response>, signal?: AbortSignal) =>
    findOllama(fetching(answer).fetch, clock, signal);
  const { fetch, seen } = fetching(json({ models: [{ name: "a:latest" }, {}, 5, { name: "b" }] }));
  expect(await findOllama(fetch, clock)).toEqual({ baseUrl: "http://127.0.0.1:11434/v1", models: ["a:latest", "b"] });
  expect(seen).toEqual([["http://127.0.0.1:11434/api/tags", undefined]]);
  expect(await find(json({ models: [] }, 404))).toBeUndefined();
  expect(await find(json({ models: "a" }))).toBeUndefined();
  expect(await find(() => new Response("hello"))).toBeUndefined();
  expect(await find(failing(new HostError("unreachable", "x")))).toBeUndefined();
  await expect(find(failing(new TypeError("a defect")))).rejects.toThrow("a defect");
  await expect(find(failing(new HostError("lost", "x")), AbortSignal.abort())).rejects.toMatchObject({
    code: "cancelled",
  });
  expect(clock.pending()).toBe(0);
});

test.each([
  ["a", "a"],
  ["b", "b:latest"],
  ["b:latest", "b:latest"],
  ["c", undefined],
])("the wanted model %s is Ollama's %s", (wanted, name) => {
  expect(ollamaModel({ baseUrl: "", models: ["a:latest", "a", "b:latest"] }, wanted)).toBe(name);
});
