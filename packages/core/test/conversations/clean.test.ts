import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createConversationFile, openConversationFile } from "../../src/conversations/conversation-file.ts";
import { listConversations, rotateConversations } from "../../src/conversations/list-conversations.ts";

const idOf = (nth: number): string => `20260131-08300${nth}-00000${nth}`;

/** Conversations of 1000 bytes, each a minute younger than the one before; the first has as much media. */
async function createConversations(folder: string, count: number): Promise<void> {
  for (let nth = 0; nth < count; nth += 1) {
    const head = { v: 1, id: idOf(nth), time: "", workspace: "/w", model: { provider: "manual", name: "manual" } };
    const file = join(folder, `${idOf(nth)}.jsonl`);
    await writeFile(file, `${JSON.stringify(head).padEnd(999)}\n`);
    await utimes(file, 1000 + nth * 60, 1000 + nth * 60);
  }
  await mkdir(join(folder, `${idOf(0)}.media`));
  await writeFile(join(folder, `${idOf(0)}.media`, "a".repeat(64)), "x".repeat(1000));
}

test.each([
  [{ conversations: 2, bytes: 1e9 }, [3, 2]],
  [{ conversations: 10, bytes: 3000 }, [3, 2, 1]],
  [{ conversations: 10, bytes: 5000 }, [3, 2, 1, 0]],
  [{ conversations: 10, bytes: 1 }, [3]],
])("%j keeps the latest conversations", async (limits, left) => {
  await using folder = await temporaryFolder();
  await createConversations(folder.path, 4);
  await writeFile(join(folder.path, "notes.txt"), "not a recorded conversation");
  await rotateConversations(folder.path, limits);
  expect((await listConversations(folder.path)).map(({ id }) => id)).toEqual(left.map(idOf));
  const names = await readdir(folder.path);
  expect(names.includes(`${idOf(0)}.media`)).toBe(left.includes(0));
  expect(names).toContain("notes.txt");
});

test("a recorded conversation that is open is not removed, and its size is known", async () => {
  await using folder = await temporaryFolder();
  await createConversations(folder.path, 2);
  const open = await openConversationFile(folder.path, idOf(0));
  expect(open.size()).toBe(1000);
  await rotateConversations(folder.path, { conversations: 1, bytes: 1e9 });
  expect(await listConversations(folder.path)).toHaveLength(2);
  await open.close();
  const created = await createConversationFile(folder.path, idOf(2));
  await created.append([{ text: '{"v":1}', media: new Map() }]);
  expect(created.size()).toBe(8);
  await expect(openConversationFile(folder.path, idOf(2))).rejects.toMatchObject({ code: "busy" });
  await created.close();
  await expect(openConversationFile(folder.path, idOf(9))).rejects.toMatchObject({ code: "not_found" });
});
