import { join } from "node:path";
import { calls, inTurn, type ModelAnswer, programServer, says, stdioServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { processesOf } from "../support/left-over.ts";
import { userFile } from "../support/machine.ts";
import { linesOf, type Scene, scene } from "../support/model-scene.ts";

describe("only servers that are needed are started", () => {
  test("those of which something is known wait for their first call", async () => {
    await using here = await scene({ counted: ["left", "right"] });
    await here.run("tools", "--refresh");
    const { code, stderr } = await here.ask('call right__echo {"text":"hi"}', "--allow", "right.echo");
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'right.echo {"text":"hi"}\n' });
    expect(await here.diary("left")).toEqual([
      "start counted",
      'declared {"elicitation":{"form":{"applyDefaults":true},"url":{}}}',
    ]);
    expect(await here.diary("right")).toEqual([
      ...(await here.diary("left")),
      "start counted",
      'declared {"elicitation":{"form":{"applyDefaults":true},"url":{}}}',
      'call echo {"text":"hi"}',
    ]);
  });

  test("those that are not among --servers are not even started, and their tools not offered", async () => {
    await using here = await scene({ counted: ["left", "right"] });
    const { stdout } = await here.ask("Hello", "--servers", "right");
    expect(stdout).toMatch(/I can call: (right__)?ask, (right__)?echo\n$/);
    await expect(here.diary("left")).rejects.toThrow("ENOENT");
  });

  test("a server that cannot start is named, and the turn goes on without it", async () => {
    await using here = await scene({ counted: ["left"], servers: { broken: { command: "no-such-program" } } });
    const ending = await here.ask("Hello", "--output-format", "json");
    expect(ending.code).toBe(0);
    expect(ending.stderr).toMatch(/^waiting for left, broken\nbroken not available: .*no-such-program/);
    expect(JSON.parse(ending.stdout)).toMatchObject({ ok: true, missing: [{ server: "broken" }] });
  });

  test("one that is slow is waited for as long as --wait says", async () => {
    await using here = await scene({ servers: { silent: stdioServer("silent") } });
    const { code, stderr } = await here.ask("Hello", "--wait", "0");
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^(waiting for silent\n)?silent not available: /) as string,
    });
  });
});

describe("what may run", () => {
  const echo = 'call echo {"text":"hi"}';

  test.each([
    [[], "denied"],
    [["--allow", "one.echo"], "ok"],
    [["--approval-mode", "yolo"], "ok"],
    [["--approval-mode", "plan", "--allow", "one.echo"], "denied"],
  ])("with %j it is %s", async (options, status) => {
    await using here = await scene({ counted: ["one"] });
    const { stdout } = await here.ask(echo, ...options, "--json");
    expect(JSON.parse(stdout)).toMatchObject({ calls: [{ server: "one", status }] });
  });

  test("a rule that denies is stronger than --allow and yolo", async () => {
    await using here = await scene({ counted: ["one"] });
    await here.run("policy", "deny", "one.echo");
    const { stdout } = await here.ask(echo, "--allow", "one.echo", "--approval-mode", "yolo", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ denied: 1, calls: [{ status: "denied" }] });
    expect(await here.diary("one")).not.toContain('call echo {"text":"hi"}');
  });

  test("an --allow that names no tool is pointed out", async () => {
    await using here = await scene({ counted: ["one"] });
    await here.run("tools", "--refresh");
    const { stderr } = await here.ask("Hello", "--allow", "one.ehco");
    expect(stderr).toContain('note: --allow: "one" has no tool "ehco"; did you mean "echo"?\n');
  });

  test("where a name could be two, what is remembered decides", async () => {
    await using here = await scene({ counted: ["a", "a.b"] });
    await here.run("tools", "--refresh");
    const { stdout } = await here.ask('call a.b__echo {"text":"hi"}', "--allow", "a.b.echo", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ calls: [{ server: "a.b", status: "ok" }] });
  });
});

test("200 tools go out in one request, and a poisoned one among them is set aside within the turn", async () => {
  const tools = Array.from({ length: 200 }, (_, at) => ({
    name: `tool-${at}`,
    description: `Number ${at}.`,
    inputSchema: { type: "object", properties: { text: { type: "string" }, poison: { type: "string" } } },
  }));
  await using here = await scene({
    api: {
      refuses: ({ name }) =>
        name === "tool-123" ? "* GenerateContentRequest.tools[0].function_declarations[{index}]: poisoned" : undefined,
    },
  });
  const list = await here.write("list.json", tools);
  await here.write(userFile, { mcpServers: { many: stdioServer("counted", join(here.path, "many.diary"), list) } });
  const ending = await here.ask('call tool-7 {"text":"hi"}', "--allow", "many.tool-7", "--json");
  expect(ending.code).toBe(0);
  expect(JSON.parse(ending.stdout)).toMatchObject({
    ok: true,
    calls: [{ serverToolName: "tool-7", status: "ok", display: "hi" }],
    quarantined: [
      { server: "many", serverToolName: "tool-123", reason: expect.stringContaining("poisoned") as string },
    ],
  });
  expect(ending.stderr).toMatch(/^quarantined: many\.tool-123: .*poisoned/m);
  const counts = here.api.seen.map(({ body }) => body.tools?.[0]?.functionDeclarations?.length);
  // The accused is tried alone before it is believed to be to blame.
  expect(counts).toEqual([200, 1, 199, 199]);
});

test("a server that dies under a call: the model is told, the turn goes on, and the server comes back", async () => {
  const answer = inTurn(calls("exit", { code: 1 }), calls("echo", { text: "again" }), says("It is back."));
  await using here = await scene({ api: { answer } });
  const notes = await here.write("notes", "");
  await here.write(userFile, { mcpServers: { frail: programServer("workshop", notes, "legacy", "stdio") } });
  const options = ["--allow", "frail.exit", "--allow", "frail.echo", "--output-format", "stream-json"];
  const ending = await here.ask("End it, and see", ...options);
  expect(ending.code).toBe(0);
  const ends = linesOf(ending).filter(({ status }) => status === "ok" || status === "error");
  expect(ends).toMatchObject([
    { serverToolName: "exit", status: "error", error: { code: "lost" } },
    { serverToolName: "echo", status: "ok", display: "again" },
  ]);
  expect(linesOf(ending).at(-1)).toMatchObject({ type: "done", reason: "stop", text: "It is back." });
});

test("a server that is killed between the model's request and the call comes back", async () => {
  await using here = await scene();
  await here.write(userFile, { mcpServers: { one: programServer("counted", join(here.path, "one.diary")) } });
  const say = (text: string): ModelAnswer => calls("echo", { text });
  const script = inTurn(say("first"), say("second"), say("third"), says("It is there."));
  here.api.settings.answer = (asked) => {
    if (asked.rounds.length === 1) for (const pid of serversOf(here)) process.kill(pid, "SIGKILL");
    return script(asked);
  };
  const { code, stdout } = await here.ask("Say it three times", "--allow", "one.echo", "--json");
  const { calls: made, text } = JSON.parse(stdout) as { calls: { display?: string; status: string }[]; text: string };
  expect({ code, text, first: made[0]?.display, third: made[2]?.display }).toEqual({
    code: 0,
    text: "It is there.",
    first: "first",
    third: "third",
  });
  expect((await here.diary("one")).filter((line) => line === "start counted")).toHaveLength(2);
});

function serversOf(here: Scene): number[] {
  const lines = processesOf(here).filter((line) => line.includes("counted.mjs") && line.includes(here.path));
  return lines.map((line) => Number.parseInt(line, 10));
}
