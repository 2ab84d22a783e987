import { googleServer, inTurn, type OpenaiApi, openaiApi, says, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { HostError } from "../../src/errors.ts";
import { type ChooseOptions, chooseModel, listModels } from "../../src/model/choose-model.ts";
import type { Fetch } from "../../src/net/bounded-fetch.ts";
import { manualClock } from "../support/manual-clock.ts";
import { all, finishOf, user } from "../support/model-contract.ts";
import { anthropicScene, geminiScene, openaiScene } from "../support/model-legs.ts";

const unreachable: Fetch = async () => {
  throw new HostError("unreachable", "no server is there");
};

async function choice(env: ChooseOptions["env"], wanted?: string, fetch: Fetch = unreachable): Promise<unknown> {
  const chosen = await chooseModel({ env, wanted, fetch, clock: manualClock() });
  return chosen.kind === "model" ? `${chosen.model.provider} ${chosen.model.name}` : chosen;
}

test.each<[ChooseOptions["env"], string | undefined, string]>([
  [{ GEMINI_API_KEY: "k" }, undefined, "gemini gemini-2.5-flash"],
  [{ GOOGLE_API_KEY: "k" }, undefined, "gemini gemini-2.5-flash"],
  [{ GEMINI_API_KEY: "k", GEMINI_MODEL: "gemini-3-pro" }, undefined, "gemini gemini-3-pro"],
  [{ GEMINI_API_KEY: "k", GEMINI_MODEL: "gemini-3-pro" }, "gemini-2.5-pro", "gemini gemini-2.5-pro"],
  [{ GEMINI_API_KEY: " ", OPENAI_API_KEY: "k" }, "gpt-5", "openai-compatible gpt-5"],
  [{ OPENAI_BASE_URL: "http://127.0.0.1:1/v1" }, "llama", "openai-compatible llama"],
  [{ OPENAI_API_KEY: "k", OPENAI_MODEL: "gpt-5" }, undefined, "openai-compatible gpt-5"],
  [{ GEMINI_API_KEY: "k", OPENAI_API_KEY: "k" }, undefined, "gemini gemini-2.5-flash"],
  [{ GEMINI_API_KEY: "k", OPENAI_API_KEY: "k" }, "gpt-5", "openai-compatible gpt-5"],
  [{ GEMINI_API_KEY: "k", OPENAI_API_KEY: "k" }, "gemini-2.5-pro", "gemini gemini-2.5-pro"],
  [{ ANTHROPIC_API_KEY: "k" }, "claude-opus-5", "anthropic claude-opus-5"],
  [{ ANTHROPIC_API_KEY: "k" }, "another", "anthropic another"],
  [{ ANTHROPIC_API_KEY: "k", ANTHROPIC_MODEL: "claude-opus-5" }, undefined, "anthropic claude-opus-5"],
  [{ ANTHROPIC_API_KEY: " ", OPENAI_API_KEY: "k" }, "claude-opus-5", "openai-compatible claude-opus-5"],
  [{ ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k", GEMINI_API_KEY: "k" }, "claude-x", "anthropic claude-x"],
  [{ ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k", GEMINI_API_KEY: "k" }, "gpt-5", "openai-compatible gpt-5"],
  [{ ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k", GEMINI_API_KEY: "k" }, "gemini-x", "gemini gemini-x"],
  [{ ANTHROPIC_API_KEY: "k", GEMINI_API_KEY: "k" }, undefined, "gemini gemini-2.5-flash"],
  // Who has used an endpoint of their own goes on using it.
  [{ ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k", OPENAI_MODEL: "gpt-5" }, undefined, "openai-compatible gpt-5"],
  [{ GOOGLE_GENAI_USE_VERTEXAI: "true", GOOGLE_CLOUD_PROJECT: "p" }, undefined, "gemini gemini-2.5-flash"],
  [{ GOOGLE_GENAI_USE_VERTEXAI: "1", GOOGLE_API_KEY: "k" }, undefined, "gemini gemini-2.5-flash"],
])("with %j and --model %s it is %s, and no address is asked", async (env, wanted, expected) => {
  expect(await choice(env, wanted)).toBe(expected);
});

test.each<[ChooseOptions["env"], RegExp]>([
  [{ GEMINI_API_KEY: "k", GOOGLE_GEMINI_BASE_URL: "models.example" }, /GOOGLE_GEMINI_BASE_URL is not an http/],
  [{ OPENAI_BASE_URL: "file:///etc" }, /OPENAI_BASE_URL is not an http/],
  [{ ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "models.example" }, /ANTHROPIC_BASE_URL is not an http/],
  [{ GOOGLE_GENAI_USE_VERTEXAI: "true" }, /GOOGLE_CLOUD_PROJECT is not set/],
  [
    { GOOGLE_GENAI_USE_VERTEXAI: "true", GOOGLE_CLOUD_PROJECT: "p", GOOGLE_CLOUD_LOCATION: "evil.example/" },
    /GOOGLE_CLOUD_LOCATION is "evil.example\/"/,
  ],
])("%j is refused before anything is sent", async (env, message) => {
  await expect(choice(env)).rejects.toMatchObject({ code: "model", message, next: expect.any(String) });
});

test("the address of the Gemini API can be another one", async () => {
  const { api } = await geminiScene({ answer: inTurn(says("here")) });
  const env = { GEMINI_API_KEY: ` ${api.settings.apiKey}\n`, GOOGLE_GEMINI_BASE_URL: api.baseUrl };
  const chosen = await chooseModel({ env, clock: systemClock });
  if (chosen.kind !== "model") throw new Error(chosen.kind);
  expect(finishOf(await all(chosen.model, [user("hi")])).content.parts).toEqual([{ text: "here" }]);
});

test("without a name, Anthropic's newest Sonnet is used; without a list, the person is told what to do", async () => {
  const { api } = await anthropicScene();
  const env = { ANTHROPIC_API_KEY: api.settings.apiKey, ANTHROPIC_BASE_URL: api.baseUrl };
  const named = async () => {
    const chosen = await chooseModel({ env, clock: systemClock });
    return chosen.kind === "model" ? chosen.model.name : chosen.kind;
  };
  expect(await named()).toBe("claude-sonnet-test");
  api.settings.models = ["claude-opus-test", "claude-haiku-test"];
  expect(await named()).toBe("claude-opus-test");
  api.settings.apiKey = "another";
  await expect(named()).rejects.toMatchObject({ code: "model", next: expect.stringContaining("ANTHROPIC_API_KEY") });
});

async function listed(env: ChooseOptions["env"], fetch?: Fetch): Promise<unknown> {
  const { models, problems } = await listModels({ env, clock: systemClock, ...(fetch && { fetch }) });
  return [models.map(({ provider, name }) => `${provider} ${name}`), problems.map(({ code, next }) => [code, next])];
}

test("the models of every configured API can be listed, and an API that fails hides no other", async () => {
  const { api: gemini } = await geminiScene({ models: ["gemini-a", "gemini-b"] });
  const { api: openai } = await openaiScene({ models: ["one", "claude-by-another"] });
  const { api: anthropic } = await anthropicScene({ models: ["claude-a"] });
  const env = {
    GEMINI_API_KEY: gemini.settings.apiKey,
    GOOGLE_GEMINI_BASE_URL: gemini.baseUrl,
    OPENAI_BASE_URL: openai.baseUrl,
    ANTHROPIC_API_KEY: anthropic.settings.apiKey,
    ANTHROPIC_BASE_URL: anthropic.baseUrl,
  };
  const all = ["gemini gemini-a", "gemini gemini-b", "openai-compatible one"];
  const others = ["openai-compatible claude-by-another", "anthropic claude-a"];
  expect(await listed(env)).toEqual([[...all, ...others], []]);
  const broken = { ...env, OPENAI_BASE_URL: "http://127.0.0.1:9/v1" };
  const problem = ["model", "Start the server, or check OPENAI_BASE_URL."];
  expect(await listed(broken)).toEqual([["gemini gemini-a", "gemini gemini-b", "anthropic claude-a"], [problem]]);
});

test("a list is bounded, names that cannot be typed are left out, and who has no list has none", async () => {
  const names = ["ok", "\u001b[31mred", "two words", "x".repeat(201), "\u202eevil"];
  const { api } = await openaiScene({ models: [...names, ...Array.from({ length: 1000 }, (_, at) => `m${at}`)] });
  const [models] = (await listed({ OPENAI_BASE_URL: api.baseUrl })) as string[][];
  expect(models).toHaveLength(500);
  expect(models?.slice(0, 2)).toEqual(["openai-compatible ok", "openai-compatible m0"]);
  expect(await listed({ GOOGLE_GENAI_USE_VERTEXAI: "1", GOOGLE_API_KEY: "k" })).toEqual([[], []]);
  expect(await listed({}, unreachable)).toEqual([[], []]);
  await using local = await openaiApi({ models: ["qwen3:8b"] });
  expect(await listed({}, asOllama(local))).toEqual([["openai-compatible qwen3:8b"], []]);
});

test("an endpoint with one model needs no name for it; one with several says which they are", async () => {
  const { api } = await openaiScene();
  const env = { OPENAI_BASE_URL: api.baseUrl };
  const named = async () => {
    const chosen = await chooseModel({ env, clock: systemClock });
    return chosen.kind === "model" ? chosen.model.name : chosen.kind;
  };
  expect(await named()).toBe("test-model");
  api.settings.models = ["one", "two"];
  await expect(named()).rejects.toMatchObject({
    code: "model",
    message: `no model chosen for ${api.origin}: the endpoint offers one, two`,
    next: "Name one: --model NAME",
  });
});

test("an endpoint without a server is reported", async () => {
  const env = { OPENAI_BASE_URL: "http://127.0.0.1:9/v1" };
  await expect(chooseModel({ env, clock: systemClock })).rejects.toMatchObject({
    code: "model",
    next: "Start the server, or check OPENAI_BASE_URL.",
  });
});

/** As if the stand-in were at Ollama's address. */
function asOllama({ origin }: OpenaiApi, asked: string[] = []): Fetch {
  return (url, init) => {
    asked.push(String(url));
    return fetch(String(url).replace("http://127.0.0.1:11434", origin), init);
  };
}

test("who does not say which models it has is not waited for, and Ctrl-C ends it", async () => {
  const asked: AbortSignal[] = [];
  const silent: Fetch = (_url, { signal } = {}) =>
    new Promise((_resolve, reject) => {
      if (!signal) return;
      asked.push(signal);
      signal.addEventListener("abort", () => reject(new HostError("cancelled", "cancelled")));
    });
  const clock = manualClock();
  const env = { OPENAI_BASE_URL: "http://models.example/v1" };
  const late = expect(chooseModel({ env, fetch: silent, clock })).rejects.toMatchObject({
    code: "model",
    message: "http://models.example sent no list of models within 10 s",
    next: "Name one: --model NAME",
  });
  await clock.pass(10_000);
  await late;
  for (const where of [env, {}]) {
    const stop = new AbortController();
    const stopped = expect(
      chooseModel({ env: where, fetch: silent, clock, signal: stop.signal }),
    ).rejects.toMatchObject({ code: "cancelled" });
    stop.abort();
    await stopped;
  }
  expect([asked.length, clock.pending()]).toEqual([3, 0]);
});

test("a running Ollama is offered, and used if the user names one of its models", async () => {
  await using api = await openaiApi({ models: ["llama3.2:latest", "qwen3:8b"] });
  const ollama = { baseUrl: "http://127.0.0.1:11434/v1", models: ["llama3.2:latest", "qwen3:8b"] };
  const asked: string[] = [];
  expect(await choice({}, undefined, asOllama(api, asked))).toEqual({ kind: "offer", ollama });
  expect(await choice({}, "mistral", asOllama(api))).toEqual({ kind: "offer", ollama });
  expect(await choice({}, "llama3.2", asOllama(api))).toBe("openai-compatible llama3.2:latest");
  expect(await choice({}, "qwen3:8b", asOllama(api))).toBe("openai-compatible qwen3:8b");
  expect(asked).toEqual(["http://127.0.0.1:11434/api/tags"]);
});

test("without anything there is nothing, and what to do", async () => {
  const next = expect.stringContaining("Set GEMINI_API_KEY");
  expect(await choice({})).toEqual({ kind: "none", next });
  await using empty = await openaiApi({ models: [] });
  expect(await choice({}, undefined, asOllama(empty))).toEqual({
    kind: "none",
    next: expect.stringContaining("ollama pull"),
  });
});

test("an Ollama that does not answer is not waited for", async () => {
  const clock = manualClock();
  const silent: Fetch = (_url, init) =>
    new Promise((_resolve, reject) => {
      init?.signal?.addEventListener("abort", () => reject(new HostError("cancelled", "cancelled")));
    });
  const choosing = chooseModel({ env: {}, fetch: silent, clock });
  await clock.pass(500);
  expect(await choosing).toMatchObject({ kind: "none" });
});

test("Vertex AI gets a token of the person's account; without an account, the person is told how to sign in", async () => {
  await using google = await googleServer();
  await using folder = await temporaryFolder();
  const sent: (string | null)[] = [];
  const fetch: Fetch = (url, init) => {
    if (!String(url).includes("aiplatform")) return google.fetch(url, init);
    sent.push(new Headers(init?.headers).get("authorization"));
    return Promise.resolve(new Response("{}", { status: 404 }));
  };
  const credentials = await folder.write("credentials.json", google.personFile);
  const ask = async (file?: string): Promise<unknown> => {
    const named = file === undefined ? {} : { GOOGLE_APPLICATION_CREDENTIALS: file };
    const env = { GOOGLE_GENAI_USE_VERTEXAI: "true", GOOGLE_CLOUD_PROJECT: "p", ...named };
    const chosen = await chooseModel({ env, home: folder.path, platform: "linux", fetch, clock: systemClock });
    if (chosen.kind !== "model") throw new Error(chosen.kind);
    return all(chosen.model, [user("hi")]).catch((error: unknown) => error);
  };
  expect(await ask(credentials)).toMatchObject({ code: "model", message: /does not know the model/ });
  expect(sent).toEqual([expect.stringMatching(/^Bearer .+/)]);
  const message = expect.stringContaining("Vertex AI");
  expect(await ask(`${folder.path}/gone.json`)).toMatchObject({
    code: "model",
    message,
    next: "Set GOOGLE_APPLICATION_CREDENTIALS to a valid credentials file, or unset it.",
  });
  await folder.write(".config/gcloud/application_default_credentials.json", {});
  expect(await ask()).toMatchObject({ code: "model", message, next: "gcloud auth application-default login" });
});
