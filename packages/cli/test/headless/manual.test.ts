import { createHost } from "@fairlead/core";
import { describe, expect, test } from "vitest";
import { serversOfCalls } from "../../src/headless/manual-line.ts";
import { machine } from "../support/machine.ts";

const manual = ["--model", "manual", "--approval-mode", "yolo", "--quiet"];

describe("without a model, the prompt is a list of calls", () => {
  test.each([
    ["demo.greet name=Ada", "Hello, Ada!\n"],
    ["call demo.greet name=Ada language=fr", "Bonjour, Ada!\n"],
    ["fairlead call demo.greet 'name=Ada Lovelace'", "Hello, Ada Lovelace!\n"],
    ['demo.greet name="Ada Lovelace"', "Hello, Ada Lovelace!\n"],
    ['demo.greet(name: "Ada", language: "fr")', "Bonjour, Ada!\n"],
    ["demo.greet name=Ada\n\ndemo.greet name=Bob\n", "Hello, Ada!\nHello, Bob!\n"],
    ['demo.greet name="Ada\nLovelace"\ndemo.greet(\n  name: "Bob\nB."\n)', "Hello, Ada\nLovelace!\nHello, Bob\nB.!\n"],
  ])("%j", async (prompt, stdout) => {
    await using here = await machine();
    expect(await here.run("-p", prompt, ...manual)).toEqual({ code: 0, stdout, stderr: "" });
  });

  test("or what is piped in, if nothing is typed", async () => {
    await using here = await machine();
    const { code, stdout } = await here.runWith({ stdin: "demo.greet name=Ada\n" }, "-p", "", ...manual);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Hello, Ada!\n" });
  });

  test.each([[["-p", ...manual]], [[...manual, "-p"]], [[...manual, "--prompt"]]])(
    "also if no text follows -p: %j",
    async (words) => {
      await using here = await machine();
      expect(await here.runWith({ stdin: "demo.greet name=Ada\n" }, ...words)).toEqual({
        code: 0,
        stdout: "Hello, Ada!\n",
        stderr: "",
      });
    },
  );

  test("however long it is", async () => {
    await using here = await machine();
    const stdin = "demo.greet name=Ada\n".repeat(60);
    const { code, stdout } = await here.runWith({ stdin }, "-p", "", ...manual);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Hello, Ada!\n".repeat(60) });
  });

  test.each([
    ["demo.gret name=Bob", 2, 'did you mean "greet"?'],
    ["demo.fail reason=tired", 7, "the last line was not run: "],
    ['demo.greet name="Bob', 2, 'the quote " is not closed'],
  ])("after the failing line %j the rest is not run", async (failing, exit, message) => {
    await using here = await machine();
    const { code, stdout, stderr } = await here.run(
      "-p",
      `demo.greet name=Ada\n${failing}\ndemo.greet name=Eve`,
      ...manual,
    );
    expect({ code, stdout: stdout.split("\n")[0] }).toEqual({ code: exit, stdout: "Hello, Ada!" });
    expect(stdout).not.toContain("Eve");
    expect(stderr).toContain(message);
  });

  test("the user is not asked here either: what no rule allows is denied", async () => {
    await using here = await machine();
    const { code, stdout } = await here.run("-p", "demo.greet name=Ada", "--model", "manual", "--fail-on-denied");
    expect({ code, stdout }).toEqual({ code: 6, stdout: "" });
  });

  test.each([
    ["hello", '"hello" is not of the form server.tool'],
    ["demo.gret name=Ada", 'did you mean "greet"?'],
    ["demo.greet(name: ", "a value is missing at the end"],
    ["demo.greet Ada", '"Ada" is not an argument'],
  ])("%j is a mistake", async (prompt, message) => {
    await using here = await machine();
    const { code, stdout, stderr } = await here.run("-p", prompt, ...manual);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });
});

test("a value of several lines names no server of its own", async () => {
  await using here = await machine();
  const { env, home, project: cwd } = here;
  await using host = await createHost({ environment: { env, home, cwd, platform: process.platform } });
  const named = (text: string): Promise<unknown> => serversOfCalls(text, { host, tools: [] });
  expect(await named('demo.greet name="Ada\nLovelace"\ndemo.greet(\n  name: "Bob"\n)')).toEqual(["demo"]);
  expect(await named("demo.greet name=Ada\ngreet name=Bob")).toBeUndefined();
});
