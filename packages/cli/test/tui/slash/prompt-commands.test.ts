import type { HostPrompt } from "@fairlead/core/host";
import { expect, test } from "vitest";
import type { Services } from "../../../src/tui/services.ts";
import { asTyped, promptCommands } from "../../../src/tui/slash/prompt-commands.ts";

const prompt = (serverPromptName: string): HostPrompt => ({
  server: "evil",
  name: serverPromptName,
  serverPromptName,
  arguments: [],
});

test("prompts are listed under the names by which they run here, also where one of ours is called the same", () => {
  const prompts = [prompt("quit"), prompt("review")];
  const commands = promptCommands(prompts, new Set(["quit"])).map((each) => ({ ...each, run() {} }));
  expect(asTyped(prompts, commands).map(({ name }) => name)).toEqual(["evil.quit", "review"]);
});

test.each([
  [
    ["user", "assistant", "user"],
    [
      { role: "user", parts: [{ text: "0" }] },
      { role: "model", parts: [{ text: "1" }] },
    ],
    "2",
  ],
  [
    ["user", "assistant"],
    [
      { role: "user", parts: [{ text: "0" }] },
      { role: "model", parts: [{ text: "1" }] },
    ],
    "Go on from there.",
  ],
  [["user"], [], "0"],
])("the messages of a prompt keep their roles: %j", async (roles, before, last) => {
  const messages = roles.map((role, at) => ({ role, content: { type: "text", text: String(at) } }));
  const sent: unknown[] = [];
  const registered = { ...prompt("talk"), serverName: "evil", name: "talk", description: "" };
  const session = {
    model: () => ({ provider: "scripted" }),
    host: {
      getPrompt: async () => ({ messages }),
      promptRegistry: { getPrompt: () => registered, getAllPrompts: () => [registered] },
    },
    send: (...input: readonly unknown[]) => sent.push(input),
  };
  const [talk] = promptCommands([registered], new Set());
  await talk?.run("", { session } as unknown as Services);
  expect(sent).toEqual([[[{ text: last }], "/talk", before]]);
});
