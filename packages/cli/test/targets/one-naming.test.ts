import { rm } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { library } from "../support/library.ts";
import { type Machine, machine, userFile } from "../support/machine.ts";
import { openScene } from "../support/tui/session-scene.ts";

const manual = ["--model", "manual", "--approval-mode", "yolo"];

/** Two servers with the same tools; each writes its calls into a file of its own. */
async function twins(): Promise<Machine> {
  const here = await machine();
  const mcpServers = Object.fromEntries(
    ["one", "two"].map((name) => [name, stdioServer("counted", join(here.path, name))]),
  );
  await here.write(userFile, { mcpServers });
  return here;
}

async function calledOn(here: Machine): Promise<readonly string[]> {
  const called = await Promise.all(
    ["one", "two"].map(async (name) => ((await here.read(name).catch(() => "")).includes("call echo") ? [name] : [])),
  );
  return called.flat();
}

describe("a tool", () => {
  test.each([
    ["echo", "one"],
    ["one.echo", "one"],
    ["two.echo", "two"],
    ["two__echo", "two"],
  ])("is called as %s in every door", async (name, server) => {
    await using here = await twins();
    for (const argv of [
      ["call", name, "text=hi"],
      ["call", name, '{"text":"hi"}'],
      ["-p", `${name} text=hi`, ...manual],
    ]) {
      expect(await here.run(...argv)).toMatchObject({ code: 0, stdout: "hi\n" });
      expect({ argv, called: await calledOn(here) }).toEqual({ argv, called: [server] });
      for (const each of ["one", "two"]) await rm(join(here.path, each), { force: true });
    }
  });

  test("what -p echoes of a call can be typed again", async () => {
    await using here = await twins();
    const { stderr } = await here.run("-p", "two.echo text='h i'", ...manual);
    const echoed = stderr.split("\n").find((line) => line.startsWith("two.echo ")) ?? "";
    expect(echoed).toBe('two.echo {"text":"h i"}');
    expect(await here.run("-p", echoed, ...manual)).toMatchObject({ code: 0, stdout: "h i\n" });
  });

  test("a rule is explained for its bare name, too", async () => {
    await using here = await twins();
    await here.run("tools");
    expect((await here.run("policy", "explain", "echo")).stdout).toContain("one.echo");
  });

  test("the demo server never has a bare name", async () => {
    await using here = await machine();
    expect(await here.run("call", "greet", "name=Ada")).toMatchObject({ code: 2 });
    expect(await here.run("call", "demo__greet", "name=Ada")).toMatchObject({ code: 0, stdout: "Hello, Ada!\n" });
  });
});

const said = (text: string): object => ({ messages: [{ role: "user", content: { type: "text", text } }] });
const shelf = (text: string): object => ({
  resources: [{ uri: `note://${text}`, name: "today" }],
  contents: { [`note://${text}`]: [{ uri: `note://${text}`, text }] },
  prompts: [{ name: "ask" }],
  results: { ask: said(text) },
});

describe("prompts and resources", () => {
  test.each([
    ["ask", "first"],
    ["one.ask", "first"],
    ["two.ask", "second"],
    ["two:ask", "second"],
    ["two__ask", "second"],
  ])("the prompt %s, in the command and in the app", async (name, text) => {
    expect(await shelves.run("prompt", name)).toMatchObject({ code: 0, stdout: expect.stringContaining(text) });
    await using scene = await openScene(shelves);
    await scene.shown(/^Fairlead/);
    await scene.ready("one", "two");
    scene.enter(`/${name}`);
    const shown = text === "first" ? /^\/ask\n/ : /^\/two\.ask\n/;
    expect(await scene.shown(shown)).toContain(text);
  });

  let shelves: Machine;
  beforeAll(async () => {
    shelves = await library({ one: shelf("first"), two: shelf("second") });
  });
  afterAll(() => shelves[Symbol.asyncDispose]());

  test.each([
    ["prompt", "ask"],
    ["read", "today"],
  ])("fairlead %s %s asks the first server, also if only the second one has been used before", async (...argv) => {
    await using fresh = await library({ one: shelf("first"), two: shelf("second") });
    await fresh.run("read", "two.today");
    expect(await fresh.run(...argv)).toMatchObject({ code: 0, stdout: expect.stringContaining("first") });
  });

  test.each([
    ["today", "first"],
    ["one.today", "first"],
    ["two.today", "second"],
    ["note://second", "second"],
    ["two:note://second", "second"],
  ])("the resource %s", async (name, text) => {
    expect(await shelves.run("read", name)).toEqual({ code: 0, stdout: `${text}\n`, stderr: "" });
  });

  test("prompts of the same name are listed so that both can be typed", async () => {
    expect((await shelves.run("prompts")).stdout).toMatch(/\/ask\(\)[\s\S]*\/two\.ask\(\)/);
  });

  test("a URI that two servers have is listed so that it can be typed", async () => {
    await using here = await library({ one: shelf("same"), two: shelf("same") });
    const { stdout } = await here.run("resources");
    expect(stdout).toMatch(/one:note:\/\/same[\s\S]*two:note:\/\/same/);
    expect(await here.run("read", "two:note://same")).toMatchObject({ code: 0 });
  });
});
