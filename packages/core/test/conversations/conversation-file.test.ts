import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import {
  conversationPath,
  conversationsFolder,
  createConversationFile,
  mediaFolder,
  openConversationFile,
} from "../../src/conversations/conversation-file.ts";
import { expectRefusal } from "../support/expect-refusal.ts";

const id = "20260131-093000-a1b2c3";
const line = (text: string, media: ReadonlyMap<string, Buffer> = new Map()) => ({ text, media });

test("the paths of conversations and their media", () => {
  expect(conversationsFolder("/state")).toBe(join("/state", "conversations"));
  expect(conversationPath("/c", id)).toBe(join("/c", `${id}.jsonl`));
  expect(mediaFolder(`/c/${id}.jsonl`)).toBe(`/c/${id}.media`);
  expect(mediaFolder("/c.jsonl/copy")).toBe("/c.jsonl/copy.media");
});

test("lines and media are written for their owner only; media that is there is not written again", async () => {
  await using folder = await temporaryFolder();
  const inner = join(folder.path, "conversations");
  const file = await createConversationFile(inner, id);
  expect(file.size()).toBe(0);
  const media = new Map([
    ["aa", Buffer.from("one")],
    ["bb", Buffer.from("two")],
  ]);
  await file.append([line("⚓"), line("two", media)]);
  await file.append([line("three", new Map([["aa", Buffer.from("ONE")]]))]);
  expect(file.size()).toBe(14);
  await file.close();
  const again = await openConversationFile(inner, id);
  expect(again.size()).toBe(14);
  await again.append([line("4", new Map([["bb", Buffer.from("TWO")]]))]);
  await again.close();
  expect(await folder.read(`conversations/${id}.jsonl`)).toBe("⚓\ntwo\nthree\n4\n");
  expect(await folder.read(`conversations/${id}.media/aa`)).toBe("one");
  expect(await folder.read(`conversations/${id}.media/bb`)).toBe("two");
  const modes = await Promise.all(
    ["", `${id}.jsonl`, `${id}.media`, `${id}.media/aa`].map(
      async (name) => (await stat(join(inner, name))).mode & 0o77,
    ),
  );
  expect(modes).toEqual([0, 0, 0, 0]);
});

test.each([
  ["whole\nto", "whole\n"],
  ["torn", ""],
  ["", ""],
  ["\n", "\n"],
  ["whole\n", "whole\n"],
  // The line break is in the block before the last one.
  [`a\n${"x".repeat(70_000)}`, "a\n"],
  [`${"y".repeat(70_000)}\n${"x".repeat(140_000)}`, `${"y".repeat(70_000)}\n`],
  ["x".repeat(140_000), ""],
])("opened, an incomplete last line is removed", async (text, kept) => {
  await using folder = await temporaryFolder();
  await folder.write(`${id}.jsonl`, text);
  const file = await openConversationFile(folder.path, id);
  expect(file.size()).toBe(kept.length);
  await file.append([line("next")]);
  await file.close();
  expect(await folder.read(`${id}.jsonl`)).toBe(`${kept}next\n`);
});

test("a conversation can be open only once, and its file is created only once", async () => {
  await using folder = await temporaryFolder();
  const path = conversationPath(folder.path, id);
  await expectRefusal(openConversationFile(folder.path, id), {
    code: "not_found",
    message: `there is no conversation "${id}"`,
    next: "fairlead conversations",
  });
  await folder.write("file", "");
  await expectRefusal(openConversationFile(join(folder.path, "file"), id), { code: "not_found", message: id });
  const file = await createConversationFile(folder.path, id);
  await expectRefusal(openConversationFile(folder.path, id), {
    code: "busy",
    message: `the conversation is open in another process: ${path}`,
    next: "Close the conversation there, then try again.",
  });
  await file.close();
  // The failed attempt to create it again leaves the file, without a lock.
  await expectRefusal(createConversationFile(folder.path, id), { code: "internal", message: path });
  await (await openConversationFile(folder.path, id)).close();
});

test("a conversation has a largest size, up to which lines are written", async () => {
  await using folder = await temporaryFolder();
  const path = await folder.write(`${id}.jsonl`, "");
  const most = 268_435_456;
  const handle = await open(path, "r+");
  // A sparse file: only its last bytes take space on the disk.
  await handle.write("\n", most - 8);
  await handle.close();
  const file = await openConversationFile(folder.path, id);
  expect(file.size()).toBe(most - 7);
  const refusal = {
    code: "too_large",
    message: `${path} is full: a conversation has at most ${most} bytes`,
    next: "Begin a new conversation: /clear",
  } as const;
  await expectRefusal(file.append([line("1234567")]), refusal);
  await file.append([line("123456")]);
  expect(file.size()).toBe(most);
  await expectRefusal(file.append([line("")]), refusal);
  await file.close();
});
