import { mkdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import {
  conversationOf,
  conversationOfId,
  folderOf,
  modelNameOf,
  wantedConversation,
} from "../../src/conversations/find-conversation.ts";

const idOf = (hour: number): string => `20260131-0${hour}3000-1a2b3c`;

/** Three conversations: the last one, the one before it of the same workspace, and one of another workspace. */
async function scene() {
  const folder = await temporaryFolder();
  const locations = { state: join(folder.path, "state"), root: "/w" } as Configuration["locations"];
  const configuration = { locations };
  const conversations = folderOf(configuration);
  await mkdir(conversations, { recursive: true });
  for (const [hour, workspace] of [
    [1, "/w"],
    [2, "/w"],
    [3, "/other"],
  ] as const) {
    const path = join(conversations, `${idOf(hour)}.jsonl`);
    const time = `2026-01-31T0${hour}:30:00.000Z`;
    const head = { v: 1, id: idOf(hour), time, workspace, model: { provider: "gemini", name: "m" } };
    await writeFile(
      path,
      `${JSON.stringify(head)}\n${JSON.stringify({ time, type: "input", text: `hello ${hour}` })}\n`,
    );
    await utimes(path, new Date(time), new Date(time));
  }
  return { configuration, conversations, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

test("a word with a slash or a dot is a path, another word is an id or its beginning", async () => {
  await using here = await scene();
  const { configuration, conversations } = here;
  const found = async (word: string): Promise<string> =>
    (await conversationOf(word, configuration, conversations)).head.id;
  expect(await found(idOf(1))).toBe(idOf(1));
  expect(await found("20260131-03")).toBe(idOf(3));
  expect(await found(`${idOf(2)}.jsonl`)).toBe(idOf(2));
  expect(await found(join(conversations, `${idOf(3)}.jsonl`))).toBe(idOf(3));
  expect((await conversationOfId("20260131-02", configuration)).head.id).toBe(idOf(2));
  await expect(conversationOf("20260131", configuration, conversations)).rejects.toMatchObject({ code: "not_found" });
});

test.each([
  ["no option", {}, undefined],
  ["--continue", { continue: true }, idOf(2)],
  ["--resume without an id", { resume: true }, idOf(2)],
  ["--resume with an id of another workspace", { resume: idOf(3) }, idOf(3)],
] as const)("the conversation to resume with %s", async (_, options, id) => {
  await using here = await scene();
  expect((await wantedConversation(options, here.configuration))?.id).toBe(id);
});

test("a workspace without conversations has none to continue", async () => {
  await using here = await scene();
  const locations = { ...here.configuration.locations, root: "/empty" };
  await expect(wantedConversation({ continue: true }, { locations })).rejects.toMatchObject({
    code: "not_found",
    message: "no conversation is recorded for /empty",
    next: "fairlead conversations",
  });
});

test("a resumed conversation uses its model, and the one of a script is not chosen by name", () => {
  expect(modelNameOf({ model: { provider: "gemini", name: "m" } })).toBe("m");
  expect(modelNameOf({ model: { provider: "scripted", name: "m" } })).toBeUndefined();
});
