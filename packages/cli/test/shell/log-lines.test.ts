import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { followLog, readLogLines } from "../../src/shell/log-lines.ts";

test("the user sees the lines of a log without empty ones, and no lines of a log that does not exist", async () => {
  await using folder = await temporaryFolder();
  await folder.write("a.log", "one\n\ntwo\nthree");
  expect(await readLogLines(join(folder.path, "a.log"))).toEqual(["one", "two", "three"]);
  expect(await readLogLines(join(folder.path, "b.log"))).toBeUndefined();
  await expect(readLogLines(folder.path)).rejects.toThrow("EISDIR");
});

test("the user who follows a log sees its complete lines, until the command is cancelled", async () => {
  await using folder = await temporaryFolder();
  // The long line is read in several pieces, and one of its characters is in two of them.
  const long = `x${"é".repeat(70_000)}`;
  await folder.write("a.log", `one\n${long}\nthree\nnot complete`);
  const stop = new AbortController();
  const lines: string[] = [];
  const follow = async (): Promise<void> => {
    for await (const line of followLog(join(folder.path, "a.log"), stop.signal)) {
      lines.push(line);
      if (line === "three") stop.abort();
    }
  };
  await expect(follow()).rejects.toThrow(expect.objectContaining({ name: "AbortError" }) as Error);
  expect(lines.map((line) => (line === long ? "long" : line))).toEqual(["one", "long", "three"]);
  const absent = followLog(join(folder.path, "b.log"), stop.signal);
  await expect(absent.next()).rejects.toThrow(expect.objectContaining({ name: "AbortError" }) as Error);
});
