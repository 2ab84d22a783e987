import { stdioServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { machine } from "../../support/machine.ts";
import { pathOf, shellProgram } from "../../support/path-program.ts";
import { signInScene } from "../../support/sign-in-scene.ts";
import { openScene } from "../../support/tui/session-scene.ts";

test("after /mcp add, the app offers the sign-in that the server needs", async () => {
  await using signIn = await signInScene();
  await using scene = await openScene(signIn.here);
  await scene.shown(/^Fairlead/);
  scene.enter(`/mcp add -s user other ${signIn.guarded.url}`);
  const { key, message, options } = await scene.asked("choice");
  expect([message, options]).toEqual(['"other" needs a sign-in.', ["sign in now", "not now"]]);
  scene.session.answer(key, { kind: "choice", value: 0 });
  const page = await scene.asked("url");
  expect([page.serverName, page.purpose]).toEqual(["other", "sign_in"]);
  scene.session.answer(page.key, { kind: "url", value: "cancel" });
  await scene.shown(/sign-in/);
});

test.each([
  [0, "pkg@1.2.3"],
  [1, "pkg"],
])("and the exact version of a package: the answer %i writes %s", async (value, written) => {
  await using here = await machine();
  const { command, args } = stdioServer("well-behaved");
  await shellProgram(here, "programs/npx", `exec ${[command, ...args].map((word) => `'${word}'`).join(" ")}`);
  await shellProgram(here, "programs/npm", `echo '"1.2.3"'`);
  const env = { ...here.env, PATH: `${pathOf(here, "programs")}:${here.env["PATH"] ?? ""}` };
  await using scene = await openScene({ ...here, env });
  await scene.shown(/^Fairlead/);
  scene.enter("/mcp add -s user a npx -y pkg");
  const { key, options } = await scene.asked("choice");
  expect(options).toEqual(["write its exact version into the settings", "not now"]);
  scene.session.answer(key, { kind: "choice", value });
  if (value === 0) await scene.shown(/^\/mcp pin/);
  expect(JSON.parse(await here.read("home/.gemini/settings.json"))).toEqual({
    mcpServers: { a: { command: "npx", args: ["-y", written] } },
  });
});
