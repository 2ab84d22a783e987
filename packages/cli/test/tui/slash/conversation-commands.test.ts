import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { call, clear, compact, copy, exportConversation, rename, resume } from "../../../src/tui/slash/conversation.ts";
import type { AppState } from "../../../src/tui/state/app-state.ts";
import { after, done as ended, idle, inTurn } from "../../support/tui/app-state.ts";
import { conversationTool, slashScene } from "../../support/tui/slash-services.ts";

const answered = (text: string): AppState =>
  after(inTurn({ type: "text", text }), { type: "turn", event: { ...ended, text }, now: 2 });

test("/call sends a call as it was typed, and needs the name of a tool", async () => {
  expect(await slashScene().run(call, "s.t a=1")).toEqual([["send call", "s.t a=1", "/call s.t a=1"]]);
  expect(await slashScene().run(call, "")).toEqual([["throw", "usage", "the tool's name is missing", "/tools"]]);
  const { services } = slashScene({ conversation: { tools: () => [conversationTool("files", "read")] } });
  expect(call.complete?.([], services)).toEqual([{ value: "files.read", about: "the tool read" }]);
  expect(call.complete?.(["files.read"], services)).toEqual([]);
});

test("/clear names the command that continues the conversation, if the user has sent a message", async () => {
  const text = "New conversation. The model does not see the previous one.";
  const noted = after(idle, { type: "note", tone: "info", text: "x" });
  for (const state of [idle, noted])
    expect(await slashScene({ state }).run(clear, "")).toEqual([["clear"], ["note", "info", text]]);
  expect(await slashScene({ state: answered("hi") }).run(clear, "")).toEqual([
    ["clear"],
    ["note", "info", text, "/resume c1"],
  ]);
});

test("/clear, /compact and /resume wait for the end of the turn", async () => {
  const scene = () => slashScene({ state: inTurn() });
  const refused = (name: string): unknown => [
    ["throw", "busy", "the turn is still running", `press Esc to stop the turn, then: ${name}`],
  ];
  expect(await scene().run(clear, "")).toEqual(refused("/clear"));
  expect(await scene().run(compact, "")).toEqual(refused("/compact"));
  expect(await scene().run(compact, "undo")).toEqual(refused("/compact"));
  expect(await scene().run(resume, "abc")).toEqual(refused("/resume"));
});

test("/resume without an id fails if there is no other conversation", async () => {
  const asked: unknown[] = [];
  const host = {
    conversations: async (search: unknown) => {
      asked.push(search);
      return [{ id: "c1" }];
    },
  };
  expect(await slashScene({ host }).run(resume, "")).toEqual([
    ["throw", "not_found", "there is no other recorded conversation"],
  ]);
  expect(asked).toEqual([{ limit: 20 }]);
});

test("/rename names the conversation", async () => {
  const named: string[] = [];
  const conversation = { rename: (title: string) => void named.push(title) };
  expect(await slashScene({ conversation }).run(rename, "My plan")).toEqual([
    ["note", "info", 'The conversation is now called "My plan".'],
  ]);
  expect(await slashScene({ conversation }).run(rename, "")).toEqual([
    ["throw", "usage", "the conversation's name is missing", "/rename NAME"],
  ]);
  expect(named).toEqual(["My plan"]);
});

test("/compact shortens the conversation or undoes that, and takes no other word", async () => {
  const undo = (isUndone: boolean) => slashScene({ conversation: { undoCompact: async () => isUndone } });
  expect(await undo(true).run(compact, "")).toEqual([["compact"]]);
  const text = "The model sees the whole conversation again. Fairlead no longer shortens it automatically.";
  expect(await undo(true).run(compact, "undo")).toEqual([["note", "info", text]]);
  expect(await undo(false).run(compact, "undo")).toEqual([["throw", "usage", "there is nothing to undo"]]);
  expect(await undo(true).run(compact, "now")).toEqual([
    ["throw", "usage", '/compact does not take "now"', "/compact undo"],
  ]);
  const { services } = slashScene();
  expect([compact.complete?.([], services), compact.complete?.(["undo"], services)]).toEqual([[{ value: "undo" }], []]);
});

test("/copy sends up to 75000 Base64 characters to the terminal", async () => {
  const [longest, longer] = ["x".repeat(56_250), "x".repeat(56_251)];
  const data = Buffer.from(longest).toString("base64");
  expect(data).toHaveLength(75_000);
  expect(await slashScene({ state: answered(longest) }).run(copy, "")).toEqual([
    ["write", `\u001b]52;c;${data}\u0007`],
    [
      "note",
      "info",
      "Sent the last answer to the clipboard: 56250 characters, through your terminal (OSC 52). If the clipboard has not changed, your terminal does not allow OSC 52.",
      "/export FILE",
    ],
  ]);
  expect(await slashScene({ state: answered(longer) }).run(copy, "")).toEqual([
    ["throw", "too_large", "the answer is too long for the terminal's clipboard: 56251 characters", "/export FILE"],
  ]);
  expect(await slashScene().run(copy, "")).toEqual([["throw", "usage", "there is no answer to copy yet"]]);
});

test("/export writes a private file without secrets, below the working folder or the home folder", async () => {
  await using folder = await temporaryFolder();
  const io = { cwd: folder.path, home: join(folder.path, "home") };
  const scene = () => slashScene({ state: answered("The password is hunter2."), io });
  await folder.write("home/other.md", "mine");
  for (const [word, file] of [
    ["talk.md", "talk.md"],
    ["'my talk.md'", "my talk.md"],
    ["~/talk.md", "home/talk.md"],
    ["~talk.md", "~talk.md"],
  ] as const) {
    const path = join(folder.path, file);
    expect(await scene().run(exportConversation, word)).toEqual([
      ["note", "info", `Wrote the conversation to ${path}`],
    ]);
    expect(await readFile(path, "utf8")).toBe(
      "# Conversation\n\n## You\n\ngo\n\n## test\n\nThe password is [hidden].\n",
    );
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  }
  const other = join(folder.path, "home/other.md");
  expect(await scene().run(exportConversation, "~/other.md")).toEqual([
    ["throw", "usage", `cannot write ${other}: the file already exists`, "/export ANOTHER_NAME.md"],
  ]);
  expect(await readFile(other, "utf8")).toBe("mine");
  const [[, , text] = []] = (await scene().run(exportConversation, "none/talk.md")) as readonly (readonly string[])[];
  expect(text).toMatch(/^cannot write .*none\/talk\.md: ENOENT/);
});

test.each([
  ["", "/export needs one file name"],
  ["a b", "/export needs one file name"],
])("/export %s is refused", async (words, text) => {
  expect(await slashScene({ state: answered("hi") }).run(exportConversation, words)).toEqual([
    ["throw", "usage", text, "/export conversation.md"],
  ]);
});
