import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { keepResult } from "@fairlead/core/files/result-files";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Machine, machine } from "../../support/machine.ts";

let here: Machine;
let id: string;
let live: string;

const folderOf = ({ home }: Machine): string => join(home, ".fairlead/conversations");
const manual = ["--model", "manual", "--allow", "demo.greet"];

async function idsOf(at: Machine): Promise<readonly string[]> {
  const { stdout } = await at.run("conversations", "--json");
  return (JSON.parse(stdout) as { conversations: { id: string }[] }).conversations.map((each) => each.id);
}

beforeAll(async () => {
  here = await machine();
  const { code, stdout } = await here.run("-p", "demo.greet name=Ada", ...manual, "--output-format", "stream-json");
  expect(code).toBe(0);
  live = stdout;
  [id = ""] = await idsOf(here);
});
afterAll(() => here[Symbol.asyncDispose]());

test("the list says what, when, where and how many calls", async () => {
  const { stdout, code } = await here.run("conversations");
  expect(code).toBe(0);
  expect(stdout).toMatch(
    new RegExp(`^id +when +calls +where +what\n${id} +less than a minute ago +1 +\\S+ +demo\\.greet name=Ada\n$`),
  );
  const { conversations } = JSON.parse((await here.run("conversations", "--json")).stdout) as {
    conversations: object[];
  };
  expect(conversations).toMatchObject([
    { id, firstWords: "demo.greet name=Ada", calls: 1, turns: 1, model: { provider: "manual", name: "manual" } },
  ]);
});

test("the first line of the output names the conversation", () => {
  expect(JSON.parse(live.split("\n")[0] ?? "")).toEqual({
    schemaVersion: 1,
    type: "start",
    model: { provider: "manual", name: "manual" },
    conversation: id,
  });
});

test("replayed, the events are the same, byte for byte", async () => {
  const { stdout, code } = await here.run("replay", id, "--output-format", "stream-json");
  expect([code, stdout]).toEqual([0, live]);
  const file = join(folderOf(here), `${id}.jsonl`);
  expect((await here.run("replay", file, "--output-format", "stream-json")).stdout).toBe(live);
});

test("show and replay print the same lines, and export is Markdown or JSON", async () => {
  const shown = await here.run("show", id);
  expect(shown.stdout).toMatch(/^› demo\.greet name=Ada\n.*demo\.greet.*\n[\s\S]*Hello, Ada/);
  expect((await here.run("replay", id)).stdout).toBe(shown.stdout);
  expect((await here.run("replay", id, "--speed", "1000")).stdout).toBe(shown.stdout);
  const markdown = await here.run("export", id.slice(0, -1));
  expect(markdown.stdout).toMatch(/^# Conversation\n\n## You\n\ndemo\.greet name=Ada\n\n### `demo\.greet`: ok\n/);
  const json = JSON.parse((await here.run("export", id, "--format", "json")).stdout) as { events: { type: string }[] };
  expect(json).toMatchObject({ schemaVersion: 1, id, workspace: expect.any(String) });
  expect(json.events.map(({ type }) => type)).toEqual(["input", "waiting", "call", "call", "call", "call", "done"]);
  expect(JSON.parse((await here.run("show", id, "--json")).stdout)).toEqual(json);
});

test("a conversation is continued in its own file, by its id or as the latest", async () => {
  // The other tests compare the conversation of the shared machine.
  await using own = await machine();
  await own.run("-p", "demo.greet name=Ada", ...manual);
  const [first = ""] = await idsOf(own);
  for (const resuming of [["--resume", first], ["--continue"], ["--resume"]]) {
    const { code, stdout } = await own.run(...resuming, "-p", "demo.greet name=Bo", ...manual, "--json");
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { ok: true, conversation: first }]);
  }
  expect(await idsOf(own)).toEqual([first]);
  // Without --model, the model is the one that it had.
  const { code } = await own.run("-p", "demo.greet name=Cy", "--resume", first, "--allow", "demo.greet");
  expect(code).toBe(0);
});

test("a word after --resume that is no id is no command either: the message names it", async () => {
  for (const words of [["nope", "-p", "demo.greet name=Bo", ...manual], ["tools", "-p", "hello"], ["nope"]])
    expect(await here.run("--resume", ...words)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        new RegExp(`there is no conversation "${words[0]}"\\n {2}next: .*conversations\\n`),
      ),
    });
  const silent = await here.run("--resume", id);
  expect([silent.code, silent.stderr]).toEqual([2, expect.stringContaining(`--resume=${id} -p "MESSAGE"`)]);
});

test("clean removes what is old, or what it is told to", async () => {
  await using at = await machine();
  await at.run("-p", "demo.greet name=Ada", ...manual);
  const [own = ""] = await idsOf(at);
  expect((await at.run("clean")).stderr).toContain("nothing to remove");
  expect((await at.run("clean", "--all", "--dry-run")).stdout).toBe(`would remove ${own}\n`);
  expect((await at.run("clean", own.slice(0, 12))).stdout).toBe(`removed ${own}\n`);
  expect(await readdir(folderOf(at))).toEqual([]);
  expect(await at.run("clean", own)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("there is no conversation"),
  });
  expect(await at.run("clean", "--all", "--older-than", "1d")).toMatchObject({ code: 2 });
});

test("clean removes stored results of the same age", async () => {
  await using at = await machine();
  const state = dirname(folderOf(at));
  const { path } = await keepResult(state, { extension: "txt", data: "abc", encoding: "utf8" });
  expect((await at.run("clean")).stderr).toContain("nothing to remove");
  expect((await at.run("clean", "--all", "--dry-run")).stdout).toBe("would remove 1 stored result\n");
  expect(JSON.parse((await at.run("clean", "--all", "--json")).stdout)).toMatchObject({
    results: { files: 1, bytes: 3 },
  });
  await expect(stat(path)).rejects.toThrow("ENOENT");
});

test.each([
  ["show", "../../secret"],
  ["export", "nothing"],
  ["replay", "20260101-000000-aaaaaa"],
  ["replay", "./nothing.jsonl"],
])("%s %s: not found", async (...line) => {
  const { code, stdout } = await here.run(...line, "--json");
  expect([code, JSON.parse(stdout)]).toMatchObject([2, { error: { code: "not_found" } }]);
});

test("a workspace without a conversation has none to continue", async () => {
  await using at = await machine();
  expect(await at.run("-p", "hello", "--continue")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/no conversation is recorded for .*\n {2}next: fairlead conversations/),
  });
});

test("what is no recorded conversation is refused with its line; hostile text is made safe", async () => {
  const file = join(here.path, "foreign.jsonl");
  const head = (await readFile(join(folderOf(here), `${id}.jsonl`), "utf8")).split("\n")[0] ?? "";
  const line = (event: object): string => JSON.stringify({ time: "2026-01-31T08:30:00.000Z", ...event });
  const replay = async (...lines: readonly string[]) => {
    await writeFile(file, `${lines.join("\n")}\n`);
    return here.run("replay", file);
  };
  expect(await replay("{}")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("not the head of a conversation"),
  });
  expect(await replay('{"v":2}')).toMatchObject({ code: 2, stderr: expect.stringContaining("version 2") });
  expect(await replay(head, line({ type: "text" }))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('line 2 is invalid: its "text" is incomplete'),
  });
  const played = await replay(
    head,
    line({ type: "input", text: "hi\u001b[2J" }),
    line({ type: "of_the_future", x: 1 }),
    line({ type: "call", id: "a", name: "x\u001b]52;c;AAAA\u0007", args: {}, status: "running" }),
    line({ type: "done", reason: "stop", text: "", denied: 0, calls: 0 }),
  );
  expect(played).toMatchObject({ code: 0, stdout: expect.stringContaining("hi␛[2J") });
  for (const control of ["\u001b", "\u0007"]) expect(played.stdout).not.toContain(control);
});
