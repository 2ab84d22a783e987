import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { inTurn, says } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { scene as modelScene } from "../../support/model-scene.ts";
import { openScene, type Scene } from "../../support/tui/session-scene.ts";

/** Sends a line and waits for the end of its turn. */
async function send(app: Scene, line: string, pattern: RegExp): Promise<string> {
  app.enter(line);
  const text = await app.shown(pattern);
  await app.until(({ turn }) => turn.kind === "idle");
  return text;
}

test("with a model, a typed call, /call and /form call the tool; the model sees the results", async () => {
  await using here = await modelScene({ api: { answer: inTurn(says("I see."), says("Talking about it.")) } });
  await using app = await openScene(here);
  await app.shown(/^Fairlead/);
  expect(app.state().model.provider).toBe("gemini");
  expect(await send(app, "demo.greet name=Ada", /^greet ok/)).toContain("Hello, Ada!");
  expect(await send(app, '/call demo.greet(name: "Bob")', /^greet ok[\s\S]*Bob/)).toContain("Hello, Bob!");
  expect(await send(app, 'demo.greet {"name":"Kim Li"}', /^greet ok[\s\S]*Kim/)).toContain("Hello, Kim Li!");
  app.enter("/form demo.greet");
  const { key } = await app.asked("form");
  app.session.answer(key, { kind: "form", value: { action: "accept", content: { name: "Eve" } } });
  await app.shown(/Hello, Eve!/);
  await app.until(({ turn }) => turn.kind === "idle");
  expect(here.api.seen).toEqual([]);
  expect(app.state().model.provider).toBe("gemini");
  await send(app, "what did I do?", /^I see\./);
  expect(JSON.stringify(here.api.seen[0]?.body.contents)).toMatch(/Hello, Ada![\s\S]*Hello, Bob![\s\S]*Hello, Eve!/);
  // A sentence about a tool is a message.
  await send(app, "demo.greet is a nice tool, is it not?", /^Talking about it\./);
});

test("a mistake in /call is explained, and the model is not asked", async () => {
  await using here = await modelScene();
  await using app = await openScene(here);
  await app.shown(/^Fairlead/);
  expect(await send(app, "/call demo.gret name=Ada", /has no tool "gret"/)).toContain('did you mean "greet"?');
  app.enter("/call");
  await app.shown(/the tool's name is missing/);
  expect(here.api.seen).toEqual([]);
});

test("/clear begins a new conversation: the model is told nothing of the one before", async () => {
  await using here = await modelScene({ api: { answer: inTurn(says("First."), says("Second.")) } });
  await using app = await openScene(here);
  await app.shown(/^Fairlead/);
  await send(app, "remember the word bowline", /^First\./);
  app.enter("/clear");
  await app.shown(/^New conversation/);
  expect(app.state().items).toHaveLength(1);
  expect(app.state().usage).toEqual({ inputTokens: 0, outputTokens: 0 });
  await send(app, "which word?", /^Second\./);
  expect(JSON.stringify(here.api.seen[1]?.body.contents)).not.toContain("bowline");
});

test("/copy sends the last answer to the terminal's clipboard, and says so", async () => {
  await using here = await modelScene({ api: { answer: inTurn(says("An *answer*.\n")) } });
  await using app = await openScene(here);
  await app.shown(/^Fairlead/);
  app.enter("/copy");
  await app.shown(/there is no answer to copy yet/);
  await send(app, "go", /^An \*answer\*/);
  app.enter("/copy");
  expect(await app.shown(/^Sent the last answer/)).toContain("12 characters, through your terminal (OSC 52)");
  await send(app, "demo.greet name=Ada", /^greet ok/);
  app.enter("/copy");
  await app.shown(/^Sent the last answer to the clipboard: 11 characters/);
  const sequence = (text: string): string => `\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`;
  expect(app.written).toEqual(["An *answer*.", "Hello, Ada!"].map(sequence));
});

test("/export writes the conversation as Markdown to a new file, and replaces none", async () => {
  await using here = await modelScene({ api: { answer: inTurn(says("```js\n1\n```")) } });
  await using app = await openScene(here);
  await app.shown(/^Fairlead/);
  app.enter("/export talk.md");
  await app.shown(/this conversation has no message yet: there is nothing to save/);
  await send(app, "demo.greet name=Ada", /^greet ok/);
  await send(app, "show code", /^```js/);
  app.enter("/export talk.md");
  await app.shown(/^Wrote the conversation to /);
  const text = await readFile(join(here.project, "talk.md"), "utf8");
  const model = app.state().model.name;
  expect(text).toBe(
    `# Conversation\n\n## You\n\ndemo.greet name=Ada\n\n### \`demo.greet\`: ok\n\n\`\`\`json\n{\n  "name": "Ada"\n}\n\`\`\`\n\n` +
      `\`\`\`text\nHello, Ada!\n\`\`\`\n\n## You\n\nshow code\n\n## ${model}\n\n\`\`\`js\n1\n\`\`\`\n`,
  );
  app.enter("/export talk.md");
  await app.shown(/cannot write .*talk\.md: the file already exists/);
  app.enter("/export");
  await app.shown(/\/export needs one file name/);
});

test('fairlead "…" sends its first message', async () => {
  await using here = await modelScene({ api: { answer: inTurn(says("Hello.")) } });
  await using app = await openScene(here, {}, "how are you?");
  await app.shown(/^Hello\./);
  expect(JSON.stringify(here.api.seen[0]?.body.contents)).toContain("how are you?");
  expect(app.state().history.entries).toContain("how are you?");
});

test('without a terminal, fairlead "…" is fairlead -p "…"; a word alone is a command', async () => {
  await using here = await modelScene({ api: { answer: inTurn(says("Hello."), says("Again.")) } });
  const env = { env: here.env };
  expect(await here.runWith(env, "how are you?")).toMatchObject({ code: 0, stdout: "Hello.\n" });
  expect(await here.runWith(env, "--", "hello")).toMatchObject({ code: 0, stdout: "Again.\n" });
  expect(await here.runWith(env, "hello")).toMatchObject({ code: 2, stdout: "" });
  const { code, stderr } = await here.runWith(env, "how are", "you?");
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("fairlead 'how are you?'") });
});
