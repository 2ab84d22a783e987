import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { logPath } from "@fairlead/core/connect/server-log";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { readLogTail } from "../../src/tui/log-tail.ts";

test("the last lines of a log are shown, and how many stand before them", async () => {
  await using folder = await temporaryFolder();
  const path = logPath(folder.path, "s");
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, "one\n\ntwo\u001b[2J\nthree\n");
  const tail = (most: number): Promise<string> => readLogTail(folder.path, "s", most);
  expect(await tail(4)).toBe("one\ntwo␛[2J\nthree");
  expect(await tail(3)).toBe("one\ntwo␛[2J\nthree");
  expect(await tail(2)).toBe(`… 1 earlier lines in ${path}\ntwo␛[2J\nthree`);
  expect(await tail(1)).toBe(`… 2 earlier lines in ${path}\nthree`);
});

test("a server without a log has an empty text, and a log that cannot be read is an error", async () => {
  await using folder = await temporaryFolder();
  expect(await readLogTail(folder.path, "s", 3)).toBe("");
  await mkdir(logPath(folder.path, "s"), { recursive: true });
  await expect(readLogTail(folder.path, "s", 3)).rejects.toMatchObject({ code: "EISDIR" });
});
