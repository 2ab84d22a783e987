import { expect, test } from "vitest";
import { library } from "../support/library.ts";
import { machine } from "../support/machine.ts";

const silent = {
  one: {
    resources: [{ uri: "one://a", name: "a" }],
    prompts: [{ name: "ask" }],
    contents: { "one://a": null },
    results: { ask: null },
  },
};

test.each([
  [["read", "one://a", "--timeout", "200ms"], "resources/read one://a"],
  [["read", "one://a", "--timeout", "200"], "resources/read one://a"],
  [["prompt", "ask", "--timeout", "0.2s"], "prompts/get ask"],
])("%j gives up after its own time", async (argv, asked) => {
  await using here = await library(silent);
  const { code, stdout, stderr } = await here.run(...argv);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/timed out: no response or progress for (?:200 ms|0\.2 s)/);
  // The server runs in the shared process, which may read this after the command has ended.
  await here.isAsked("one", "notifications/cancelled");
  expect(await here.asked("one")).toEqual([asked, "notifications/cancelled"]);
});

test.each(["read", "prompt"])("`%s --timeout` takes a time, and asks no server otherwise", async (command) => {
  await using here = await library(silent);
  const wrong = await here.run(command, "one://a", "--timeout", "soon");
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("500ms, 10s or 2m") });
  expect(await here.run(command, "one://a", "--timeout", "0")).toMatchObject({ code: 2 });
  expect(await here.starts("one")).toBe(0);
});

test("a timeout of the demo server, which has no entry in the settings, does not name the settings", async () => {
  await using here = await machine();
  const { code, stderr } = await here.run("call", "demo.wait", "seconds=60", "--timeout", "50ms");
  expect(code).toBe(1);
  expect(stderr).toContain("\n  next: give the call a longer --timeout\n");
});
