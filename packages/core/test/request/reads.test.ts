import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createHost, type Host } from "../../src/index.ts";

async function demoHost(path: string): Promise<Host> {
  const env = { PATH: process.env["PATH"], HOME: path, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(path, "none") };
  const environment = { env, home: path, cwd: path, platform: process.platform };
  return createHost({ environment, recover: false, trust: true });
}

test("what a person refers to is read from its server, which is connected for it, and from the workspace", async () => {
  await using folder = await temporaryFolder();
  await folder.write("note.txt", "a note");
  await using host = await demoHost(folder.path);
  const { parts, problems } = await host.expandReferences("Compare @demo://about with @note.txt and @demo://nothing");
  const text = parts.map((part) => part.text ?? "").join("\n");
  expect(text.startsWith("Compare @demo://about with @note.txt and @demo://nothing")).toBe(true);
  expect(text).toContain("a note");
  expect(text).toMatch(/untrusted_context/);
  expect(problems.map((problem) => problem.text)).toEqual(["@demo://nothing"]);
});

test("prompts are got and completed through the host", async () => {
  await using folder = await temporaryFolder();
  await using host = await demoHost(folder.path);
  const [prompt] = await host.start().then(() => host.prompts());
  expect(prompt).toMatchObject({ server: "demo", serverPromptName: "teach" });
  const knot = prompt?.arguments[0]?.name ?? "";
  const of = { kind: "prompt", server: "demo", prompt: "teach" } as const;
  const [value = ""] = await host.complete({ of, name: knot, value: "" });
  const { messages } = await host.getPrompt("demo", "teach", { [knot]: value });
  expect(JSON.stringify(messages)).toContain(value);
  expect((await host.promptRegistry.getAllPrompts()[0]?.invoke({ [knot]: value }))?.messages).toEqual(messages);
});

test("the arguments of a denied prompt are not completed", async () => {
  await using folder = await temporaryFolder();
  await folder.write(
    ".gemini/policies/deny.toml",
    '[[rule]]\nmcpName = "demo"\nkind = "prompt"\ntoolName = "teach"\ndecision = "deny"\npriority = 900\n',
  );
  await using host = await demoHost(folder.path);
  await host.start();
  const of = { kind: "prompt", server: "demo", prompt: "teach" } as const;
  expect(await host.complete({ of, name: "knot", value: "" })).toEqual([]);
});

test("a URI that no catalog lists is requested from a server whose catalog is not known yet", async () => {
  await using folder = await temporaryFolder();
  await using host = await demoHost(folder.path);
  const { problems } = await host.expandReferences('Look: @"demo://picture"');
  expect(problems).toEqual([]);
});
