import { answered, anthropicApi, anthropicOverloaded, cutAfter } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { machine } from "../support/machine.ts";

async function scene() {
  const here = await machine();
  const api = await anthropicApi();
  const address = { ANTHROPIC_BASE_URL: api.baseUrl };
  const ask = (env: Readonly<Record<string, string>>, prompt: string, ...words: readonly string[]) =>
    here.runWith({ env: { ...address, ...env } }, "-p", prompt, ...words);
  return {
    here,
    api,
    key: { ANTHROPIC_API_KEY: api.settings.apiKey },
    ask,
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]();
      await here[Symbol.asyncDispose]();
    },
  };
}

const prompt = 'call demo__greet {"name":"Ada"}';

test("a claude model calls a tool and tells its result", async () => {
  await using at = await scene();
  const words = ["--model", "claude-opus-test", "--allow", "demo.greet"];
  const { code, stdout } = await at.ask(at.key, prompt, ...words);
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("Hello, Ada!") });
  expect(at.api.seen.map(({ model }) => model)).toEqual(["claude-opus-test", "claude-opus-test"]);
});

test("the key may be a stored secret; the environment's key comes first, and nothing prints it", async () => {
  await using at = await scene();
  const store = { FAIRLEAD_SECRET_STORE: "file" };
  const { apiKey } = at.api.settings;
  const words = ["secret", "set", "ANTHROPIC_API_KEY", "--value-from", "GIVEN"];
  const stored = await at.here.runWith({ env: { ...store, GIVEN: apiKey } }, ...words);
  expect(stored.code).toBe(0);
  const { code, stdout, stderr } = await at.ask(store, "Hello");
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("You said: Hello") });
  expect(stdout + stderr).not.toContain(apiKey);
  // The newest Sonnet of the API's list.
  expect(at.api.seen[0]?.model).toBe("claude-sonnet-test");
  const refused = await at.ask({ ...store, ANTHROPIC_API_KEY: "another-key" }, "Hello", "--model", "claude-opus-test");
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("Check ANTHROPIC_API_KEY.") });
});

test("an overloaded API is asked again, and an answer that is cut in its middle is an error", async () => {
  await using at = await scene();
  at.api.interrupt("messages", answered(anthropicOverloaded()));
  const again = await at.ask(at.key, "Hello", "--model", "claude-x");
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("trying again in") });
  at.api.interrupt("messages", cutAfter(4));
  const cut = await at.ask(at.key, "Hello", "--model", "claude-x");
  expect(cut).toMatchObject({ code: 1, stderr: expect.stringContaining("broke off") });
});
