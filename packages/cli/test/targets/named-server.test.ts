import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { machine, userFile } from "../support/machine.ts";
import { openScene } from "../support/tui/session-scene.ts";

const shelf = {
  resources: [{ uri: "notes://today", name: "today" }],
  prompts: [{ name: "ask" }],
  contents: { "notes://today": [{ uri: "notes://today", text: "tea" }] },
  results: { ask: { messages: [{ role: "user", content: { type: "text", text: "Why?" } }] } },
};
const manual = ["--model", "manual", "--approval-mode", "yolo", "--quiet"];

/** Two servers that work, after one that leaves a file if it is started and one whose program does not exist. */
async function village() {
  const here = await machine({ "lib.json": shelf });
  await here.write(userFile, {
    mcpServers: {
      spy: { command: "touch", args: [join(here.path, "spy-started")] },
      dead: { command: "no-such-program" },
      lib: stdioServer("library", join(here.path, "lib.json"), join(here.path, "lib.diary")),
      w: stdioServer("workshop"),
    },
  });
  return here;
}

test.each([
  ["call", ["call", "w.echo", "text=hi"], "hi\n"],
  ["-p", ["-p", "w.echo text=hi", ...manual], "hi\n"],
  ["-p with two lines", ["-p", "w.echo text=hi\ncall w.echo text=ho", ...manual], "hi\nho\n"],
  ["-p with a call expression", ["-p", 'w.echo(text: "h i")', ...manual], "h i\n"],
  ["prompt", ["prompt", "lib:ask"], expect.stringContaining("Why?")],
  ["read", ["read", "lib:notes://today"], "tea\n"],
])(
  "%s: a request that names its server starts no other server and says nothing about others",
  async (_door, argv, stdout) => {
    await using here = await village();
    expect(await here.run(...argv)).toEqual({ code: 0, stdout, stderr: "" });
    expect(await readdir(here.path)).not.toContain("spy-started");
  },
);

test("-p: the named server cannot start: its error, and nothing about others", async () => {
  await using here = await village();
  const { code, stderr } = await here.run("-p", "dead.echo text=hi", ...manual);
  expect(code).toBe(4);
  expect(stderr).toMatch(/^fairlead: "dead" did not start: .*no-such-program/m);
  expect(stderr).not.toMatch(/\bspy\b|no server/);
});

test("in the app, a typed call does not wait for a server that is still connecting, and says nothing about it", async () => {
  await using here = await machine({
    [userFile]: { mcpServers: { slow: stdioServer("silent"), w: stdioServer("workshop") } },
  });
  await using scene = await openScene(here);
  await scene.shown(/^Fairlead/);
  scene.enter("w.echo text=hi");
  expect(await scene.shown(/^echo ok/)).toContain("hi");
  const { items, servers } = await scene.until(({ turn }) => turn.kind === "idle");
  expect(servers.find(({ name }) => name === "slow")?.status).toBe("connecting");
  expect(JSON.stringify(items.slice(1))).not.toContain("slow");
});
