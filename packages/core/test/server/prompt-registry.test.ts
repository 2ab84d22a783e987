import type { PromptResult } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { DiscoveredMCPPrompt, type DiscoveredMCPPromptOptions } from "../../src/server/discovered-prompt.ts";
import { PromptRegistry } from "../../src/server/registries.ts";

const result: PromptResult = { messages: [{ role: "user", content: { type: "text", text: "hi" } }], notes: [] };

function prompt(
  serverName: string,
  serverPromptName: string,
  options: Partial<DiscoveredMCPPromptOptions> = {},
): DiscoveredMCPPrompt {
  return new DiscoveredMCPPrompt({ serverName, serverPromptName, get: async () => result, ...options });
}

const names = (prompts: readonly DiscoveredMCPPrompt[]) =>
  prompts.map(({ serverName, serverPromptName, name }) => [serverName, serverPromptName, name]);

test("prompts are named like tools", () => {
  const registry = new PromptRegistry({ serverOrder: ["a", "b"], alwaysQualified: ["demo"] });
  registry.registerPrompt(prompt("demo", "greet"));
  registry.registerPrompt(prompt("b", "greet"));
  registry.replaceServer("a", [prompt("a", "greet"), prompt("a", "2 words"), prompt("a", ""), prompt("a", "greet")]);
  expect(names(registry.getAllPrompts())).toEqual([
    ["a", "greet", "greet"],
    ["a", "2 words", "_2_words"],
    ["b", "greet", "b__greet"],
    ["demo", "greet", "demo__greet"],
  ]);
  expect(registry.getPrompt("b__greet")).toBe(registry.find("b", "greet"));
  expect(names(registry.getPromptsByServer("b"))).toEqual([["b", "greet", "b__greet"]]);
  registry.removeServer("a");
  expect(registry.getPrompt("greet")?.serverName).toBe("b");
});

test("what was read from a registry can be put back and is named as before", () => {
  const registry = new PromptRegistry({ serverOrder: ["a", "b"] });
  for (const server of ["a", "b"]) registry.replaceServer(server, [prompt(server, "greet")]);
  registry.replaceServer("b", registry.getPromptsByServer("b"));
  registry.removeServer("a");
  expect(names(registry.getAllPrompts())).toEqual([["b", "greet", "greet"]]);
});

describe("a prompt", () => {
  const topic = { name: "topic", required: true };
  const tone = { name: "__proto__", description: "How to say it", required: true };

  test("keeps what its server says of it under any name", () => {
    const facts = { title: "Greet", description: "Greets.", arguments: [topic] };
    expect(prompt("s", "greet", facts).named("x")).toMatchObject({ name: "x", serverPromptName: "greet", ...facts });
    expect(prompt("s", "greet")).toMatchObject({ name: "greet", title: undefined, description: "", arguments: [] });
  });

  test("is asked for under the server's own name", async () => {
    const asked: unknown[] = [];
    const get: DiscoveredMCPPromptOptions["get"] = async (...request) => {
      asked.push(request);
      return result;
    };
    const { signal } = new AbortController();
    expect(
      await prompt("s", "greet", { get, arguments: [topic] })
        .named("x")
        .invoke({ topic: "sea" }, signal),
    ).toBe(result);
    expect(asked).toEqual([["greet", { topic: "sea" }, signal]]);
  });

  test("is not asked for without what it needs", async () => {
    const lacking = prompt("s", "greet", { arguments: [topic, tone, { name: "length", required: false }] });
    await expect(lacking.invoke({ length: "1" })).rejects.toMatchObject({
      code: "arguments_invalid",
      message: 'prompt greet of "s" needs topic, __proto__',
      serverName: "s",
    });
  });
});
