import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { machine, projectFile, userFile } from "../../support/machine.ts";
import { openScene } from "../../support/tui/session-scene.ts";

const workshop = { mcpServers: { w: stdioServer("workshop") } };

test("the first lines say what was found, what can be tried, how to add a server and how to connect a model", async () => {
  await using here = await machine();
  await using scene = await openScene(here);
  const text = await scene.shown(/^Fairlead/);
  expect(text).toContain(`workspace  ${here.project} (not trusted: no rule covers it)`);
  for (const words of [
    "demo.greet name=Ada",
    "/form demo.greet",
    "/mcp add -s user memory npx -y @modelcontextprotocol/server-memory",
    "GEMINI_API_KEY",
  ])
    expect(text).toContain(words);
});

test("without a model a line is a call, and to type it is to consent to it; what is no call is answered", async () => {
  await using here = await machine();
  await using scene = await openScene(here);
  await scene.shown(/^Fairlead/);
  scene.enter("demo.greet name=Ada");
  expect(await scene.shown(/^greet ok/)).toContain("Hello, Ada!");
  await scene.until(({ turn }) => turn.kind === "idle");
  scene.enter("hello there");
  const answer = await scene.shown(/There is no model to answer this/);
  for (const words of ["Set GEMINI_API_KEY", "fairlead secret set GEMINI_API_KEY", "demo.greet name=Ada", "/tools"])
    expect(answer).toContain(words);
  await scene.until(({ turn }) => turn.kind === "idle");
  scene.enter("demo.gret name=Ada");
  await scene.shown(/"demo" has no tool "gret"/);
});

test("a rule of the user still asks, also about a call that the user typed", async () => {
  await using here = await machine();
  await here.run("policy", "ask", "demo.greet");
  await using scene = await openScene(here);
  await scene.shown(/^Fairlead/);
  scene.enter("demo.greet name=Ada");
  const { key, view } = await scene.asked("confirmation");
  expect([view.server, view.name, view.args]).toEqual(["demo", "greet", { name: "Ada" }]);
  scene.session.answer(key, { kind: "confirmation", value: "no" });
  expect(await scene.shown(/^greet denied/)).toBe("greet denied ");
});

test("a form gives the arguments of a call, with what is typed behind its name filled in", async () => {
  await using here = await machine();
  await using scene = await openScene(here);
  await scene.shown(/^Fairlead/);
  scene.enter("/form demo.greet language=de");
  const { key, serverName, toolName, purpose, values } = await scene.asked("form");
  expect({ serverName, toolName, purpose, values }).toEqual({
    serverName: "demo",
    toolName: "greet",
    purpose: "arguments",
    values: { language: "de" },
  });
  const content = { name: 'O\'Neil \\ "x"', language: "de" };
  scene.session.answer(key, { kind: "form", value: { action: "accept", content } });
  await scene.shown(/^greet ok/);
  const call = scene.state().items.find((item) => item.kind === "call");
  expect(call?.kind === "call" && call.call.args).toEqual(content);
});

test("a tool that is taken out of the conversation cannot be called, and is there again afterwards", async () => {
  await using here = await machine();
  await using scene = await openScene(here);
  await scene.shown(/^Fairlead/);
  scene.enter("/tools off demo.greet");
  await scene.shown(/^Switched off: demo\.greet/);
  scene.enter("/tools");
  expect(await scene.shown(/^\/tools/)).toMatch(/off in this conversation: greet/);
  scene.enter("/tools on demo");
  await scene.shown(/^Switched on: demo\.greet, /);
  expect(scene.session.conversation.tools().every(({ enabled }) => enabled)).toBe(true);
});

test.each([
  ["/mcp nonsense", /unknown command "\/mcp nonsense"/],
  ["/mcp start nobody", /there is no server "nobody"/],
  ["/mcp stop", /\/mcp stop needs a server name/],
  ["/tools off demo.gret", /did you mean demo\.greet\?/],
  ["/form demo.nothing", /"demo" has no tool "nothing"/],
  ["/model no-such-model", /no model "no-such-model": no configured provider has it/],
])("%s says what is wrong", async (line, pattern) => {
  await using here = await machine();
  await using scene = await openScene(here);
  await scene.shown(/^Fairlead/);
  scene.enter(line);
  await scene.shown(pattern);
});

test("a server is stopped, started, disabled and enabled, and what the app itself writes is no news to it", async () => {
  await using here = await machine({ [userFile]: workshop });
  await using scene = await openScene(here);
  const status = (): unknown => scene.state().servers.find(({ name }) => name === "w")?.status;
  await scene.until(() => status() === "connected");
  scene.enter("/mcp stop w");
  await scene.shown(/"w" is stopped/);
  expect(status()).toBe("disconnected");
  scene.enter("/mcp start w");
  await scene.shown(/"w": connected/);
  scene.enter("/mcp disable w");
  await scene.until(() => status() === "disabled");
  scene.enter("/mcp enable w");
  await scene.until(() => status() === "connected");
  scene.enter("/mcp list");
  expect(await scene.shown(/^\/mcp list/)).toMatch(/w +connected/);
  expect(
    scene.state().items.filter((item) => item.kind === "note" && item.text.startsWith("Settings changed")),
  ).toEqual([]);
});

test("settings that another program changes are told, and taken over by /mcp reload", async () => {
  await using here = await machine({ [userFile]: {} });
  await using scene = await openScene(here);
  await scene.shown(/^Fairlead/);
  await here.write(userFile, workshop);
  expect(await scene.shown(/^Settings changed: /)).toContain("/mcp reload");
  scene.enter("/mcp reload");
  await scene.shown(/Settings reloaded\. Added: w\./);
  await scene.ready("w");
  expect(
    scene.state().items.filter((item) => item.kind === "note" && item.text.startsWith("Settings changed")),
  ).toHaveLength(1);
});

test("the demo server can be used by its name beside others", async () => {
  await using here = await machine({ [userFile]: workshop });
  await using scene = await openScene(here);
  await scene.shown(/^Fairlead/);
  scene.enter("demo.greet name=Ada");
  expect(await scene.shown(/^greet ok/)).toContain("Hello, Ada!");
  scene.enter("/tools demo");
  expect(await scene.shown(/^\/tools/)).toContain("greet(");
  scene.enter("/form demo.greet");
  expect((await scene.asked("form")).toolName).toBe("greet");
});

test("pictures of a result are described, and kept in files", async () => {
  await using here = await machine();
  await using scene = await openScene(here);
  await scene.shown(/^Fairlead/);
  scene.enter("demo.picture");
  const text = await scene.shown(/^picture ok/);
  expect(text).toMatch(/\[image image\/png, [\d.]+ k?B\]/);
  expect(text).not.toContain("```");
  const card = scene.state().items.find((item) => item.kind === "call");
  const files = card?.kind === "call" ? card.call.files : [];
  expect(files).toHaveLength(1);
  expect((await readFile(files[0] ?? "")).subarray(1, 4).toString()).toBe("PNG");
});

test("names from a workspace stay in the line in which they are told", async () => {
  const name = "x\nworkspace  /home (trusted)";
  await using here = await machine({ [projectFile]: { mcpServers: Object.fromEntries([[name, { command: "x" }]]) } });
  await using scene = await openScene(here);
  const text = await scene.shown(/^Fairlead/);
  expect(text.match(/^workspace /gm)).toHaveLength(1);
});

test("a model that is named is used, and a note says that Fairlead has not looked for it", async () => {
  await using here = await machine();
  await using scene = await openScene(here, { GEMINI_API_KEY: "k" });
  await scene.shown(/^Fairlead/);
  scene.enter("/model nosuch");
  expect(await scene.shown(/The model is now nosuch/)).toContain("did not check");
});

test("/prompts shows what can be typed", async () => {
  await using here = await machine();
  await using scene = await openScene(here);
  await scene.shown(/^Fairlead/);
  scene.enter("/prompts");
  expect(await scene.shown(/^\/prompts/)).toContain("/demo.teach(");
});

test("an address that is not fit to be opened is declined, and the person is told", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { c: stdioServer("counted") } } });
  await using scene = await openScene(here);
  await scene.ready("c");
  const params = { mode: "url", message: "Go", url: "https://good.example@evil.example/" };
  scene.enter(`c.ask method=elicitation/create 'params:=${JSON.stringify(params)}'`);
  expect(await scene.shown(/"c" asked you to open an unsafe address/)).toContain("good.example@evil.example");
  expect(await scene.shown(/^ask ok/)).toContain("decline");
});

test("the servers of a workspace are shown whole before any of them starts, and a yes approves exactly these", async () => {
  await using here = await machine();
  const marker = join(here.path, "started");
  const args = ["-e", `require("node:fs").writeFileSync(${JSON.stringify(marker)}, "")`];
  await here.write(projectFile, { mcpServers: { planted: { command: process.execPath, args } } });
  await using scene = await openScene(here);
  const { key, root, servers } = await scene.asked("trust");
  expect([root, servers.map(({ definition }) => definition.transport)]).toMatchObject([
    here.project,
    [{ kind: "stdio", command: process.execPath, args }],
  ]);
  await expect(access(marker)).rejects.toThrow("ENOENT");
  scene.session.answer(key, { kind: "trust", value: true });
  await scene.shown(/Approved: planted/);
  const { stdout } = await here.run("trust", "list");
  expect(stdout).toContain(`${here.project} is trusted`);
  await scene.until((state) =>
    state.servers.some(({ name, status }) => name === "planted" && status === "disconnected"),
  );
});

test("a no starts nothing and writes nothing, and /trust asks again", async () => {
  await using here = await machine({ [projectFile]: workshop });
  await using scene = await openScene(here);
  const { key } = await scene.asked("trust");
  scene.session.answer(key, { kind: "trust", value: false });
  await scene.shown(/None of its servers was started/);
  expect((await here.run("trust", "list")).stdout).toContain("is not trusted");
  scene.enter("/trust");
  expect((await scene.asked("trust")).servers.map(({ definition }) => definition.name)).toEqual(["w"]);
});

test("a prompt of a server is a command: a form asks for what is missing, and without a model its messages are shown", async () => {
  await using here = await machine();
  await using scene = await openScene(here);
  await scene.shown(/^Fairlead/);
  scene.enter("/teach");
  const { key, schema } = await scene.asked("form");
  expect(schema["required"]).toEqual(["knot"]);
  scene.session.answer(key, { kind: "form", value: { action: "accept", content: { knot: "bowline" } } });
  expect(await scene.shown(/^\/demo\.teach/)).toContain("bowline");
  // What was echoed can be typed again.
  scene.enter("/demo.teach bowline");
  expect(await scene.shown(/^\/demo\.teach bowline/)).toContain("user:");
});

test("/help all fits 80 columns, cuts no name, and has the commands of prompts", async () => {
  await using here = await machine();
  await using scene = await openScene(here);
  await scene.shown(/^Fairlead/);
  scene.session.store.dispatch({ type: "resize", size: { columns: 80, rows: 24 } });
  scene.enter("/help all");
  const rows = (await scene.shown(/^\/help all/)).split("\n");
  expect(rows.filter((row) => row.length > 76)).toEqual([]);
  expect(rows).toContain("  /mcp [list|desc|schema|logs|reload|start|stop|restart|enable|disable|");
  expect(rows).toContain("      auth|test|search|add|remove|import|get|logout|pin] [SERVER]");
  expect(rows.join("\n")).toContain("/demo.teach");
  expect(rows).toContain("      list and manage servers");
  expect(rows.join("\n")).toMatch(/^ {2}\/quit +quit \(also: Ctrl-C twice on an empty prompt\)$/m);
});

test("Esc during a call puts queued lines back into the prompt, and none of them runs", async () => {
  await using here = await machine();
  await using scene = await openScene(here);
  await scene.shown(/^Fairlead/);
  scene.enter("demo.wait seconds=60");
  await scene.shown(/^wait running/);
  scene.enter("demo.greet name=Ada");
  scene.enter("/call demo.greet name=Bob");
  await scene.until(({ waiting }) => waiting.length === 2);
  scene.session.press({ name: "escape" });
  await scene.shown(/^wait cancelled/);
  const { editor, waiting, items } = await scene.until(({ turn }) => turn.kind === "idle");
  expect([editor.text, waiting]).toEqual(["demo.greet name=Ada\n/call demo.greet name=Bob", []]);
  expect(items.filter(({ kind }) => kind === "call")).toHaveLength(1);
});

test.each([
  [{}, /offered to the model directly: all \(every tool fits into the budget\)/],
  [{ toolBudget: 10 }, /found by search only: all \(the tool budget is used up\)/],
])("/tools with %j says what the model is offered, and why", async (fairlead, words) => {
  await using here = await machine({ [userFile]: { mcpServers: {}, fairlead } });
  await using scene = await openScene(here, { GEMINI_API_KEY: "k" });
  await scene.shown(/^Fairlead/);
  scene.enter("/tools");
  expect(await scene.shown(/^\/tools/)).toMatch(words);
});
