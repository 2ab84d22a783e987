import type { HostPrompt } from "@fairlead/core/host";
import { expect, test } from "vitest";
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
