import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { createServerLogs, logPath } from "../../src/connect/server-log.ts";

const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;

test("every line has its time and kind; colours are left out, other controls cannot harm a terminal", async () => {
  await using folder = await temporaryFolder();
  const logs = createServerLogs(folder.path);
  const log = logs.of("s");
  log.write("stderr", "one\r\n\u001b[31mtwo\u001b[0m\n");
  log.write("note", "\u001b]0;title\u0007\u202e");
  log.write("wire", "sent {}");
  await logs.close();
  const lines = [`stderr one␍`, "stderr two", "note ␛]0;title␇", "wire sent {}"];
  expect(await folder.read("logs/s.log")).toMatch(new RegExp(`^${lines.map((line) => `${time} ${line}\n`).join("")}$`));
});

test("an empty log leaves no file", async () => {
  await using folder = await temporaryFolder();
  const logs = createServerLogs(folder.path);
  logs.of("s");
  await logs.close();
  expect(await readdir(folder.path)).toEqual([]);
});

test("only its owner can read it", async () => {
  await using folder = await temporaryFolder();
  const log = createServerLogs(folder.path).of("s");
  log.write("note", "x");
  await log.close();
  const modes = await Promise.all([join(folder.path, "logs"), log.path].map(async (path) => (await stat(path)).mode));
  expect(modes.map((mode) => (mode & 0o777).toString(8))).toEqual(["700", "600"]);
});

test("a file over a megabyte is put aside; three are kept", async () => {
  await using folder = await temporaryFolder();
  const log = createServerLogs(folder.path).of("s");
  const chunk = `${"x".repeat(999)}\n`.repeat(900);
  for (let round = 0; round < 8; round += 1) {
    log.write("stderr", `round ${round}\n${chunk}`);
    await log.close();
  }
  expect((await readdir(join(folder.path, "logs"))).sort()).toEqual(["s.log", "s.log.1", "s.log.2"]);
  const sizes = ["", ".1", ".2"].map(async (end) => (await stat(log.path + end)).size);
  expect(Math.max(...(await Promise.all(sizes)))).toBeLessThan(2.1 * 1024 * 1024);
  expect(await readFile(log.path, "utf8")).toContain("round 7");
  expect(await readFile(`${log.path}.1`, "utf8")).not.toContain("round 7");
});

test("what comes faster than it can be written is counted, not kept", async () => {
  await using folder = await temporaryFolder();
  const log = createServerLogs(folder.path).of("s");
  for (let line = 0; line < 3000; line += 1) log.write("stderr", "x".repeat(1000));
  await log.close();
  const text = await readFile(log.path, "utf8");
  const [, missing = ""] = /note (\d+) lines dropped: the server wrote too fast\n$/.exec(text) ?? [];
  expect(text.split("\n").length - 2 + Number(missing)).toBe(3000);
  expect(text.length).toBeLessThan(1.1 * 1024 * 1024);
});

test("a line without end is cut", async () => {
  await using folder = await temporaryFolder();
  const log = createServerLogs(folder.path).of("s");
  log.write("stderr", "x".repeat(100_000));
  await log.close();
  expect(await readFile(log.path, "utf8")).toMatch(/ stderr x{16384}… \(83616 more characters\)\n$/);
});

test("a log that cannot be written fails no request", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "logs"), "a file where the folder should be");
  const logs = createServerLogs(folder.path);
  logs.of("s").write("note", "x");
  await logs.close();
  expect(await folder.read("logs")).toBe("a file where the folder should be");
});

test("it is found again, and goes on, after a close", async () => {
  await using folder = await temporaryFolder();
  for (const word of ["first", "second"]) {
    const log = createServerLogs(folder.path).of("s");
    log.write("note", word);
    await log.close();
  }
  expect(await folder.read("logs/s.log")).toMatch(/note first\n.*note second\n$/);
});

describe("a file name of any server name", () => {
  test.each([
    ["github", "github.log"],
    ["my-server_2.0", "my-server_2.0.log"],
    ["GitHub", /^GitHub-[0-9a-f]{8}\.log$/],
    ["../../etc/passwd", /^______etc_passwd-[0-9a-f]{8}\.log$/],
    [".hidden", /^_hidden-[0-9a-f]{8}\.log$/],
    ["", /^-[0-9a-f]{8}\.log$/],
    ["a\u0000b\nc", /^a_b_c-[0-9a-f]{8}\.log$/],
    ["x".repeat(500), /^x{48}-[0-9a-f]{8}\.log$/],
  ])("%j", (name, file) => {
    const path = logPath("/state", name);
    expect(path.startsWith("/state/logs/")).toBe(true);
    expect(path.slice("/state/logs/".length)).toEqual(typeof file === "string" ? file : expect.stringMatching(file));
  });

  test("two servers never share one, also where case does not count", () => {
    const names = ["a/b", "a_b", "a:b", "A_b", "a_B", "a.log", "a"];
    expect(new Set(names.map((name) => logPath("/", name).toLowerCase())).size).toBe(names.length);
  });
});

test("a folder that was open to others is closed", async () => {
  await using folder = await temporaryFolder();
  const place = join(folder.path, "logs");
  await mkdir(place);
  await chmod(place, 0o755);
  const log = createServerLogs(folder.path).of("s");
  log.write("note", "x");
  await log.close();
  expect((await stat(place)).mode & 0o777).toBe(0o700);
});
