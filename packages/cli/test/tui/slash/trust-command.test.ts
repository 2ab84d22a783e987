import { expect, test } from "vitest";
import { builtIns } from "../../../src/tui/slash/commands.ts";
import { mcp } from "../../../src/tui/slash/mcp.ts";
import { type Machine, machine, projectFile } from "../../support/machine.ts";
import { contextOf } from "../../support/tui/session-scene.ts";
import { slashScene } from "../../support/tui/slash-services.ts";

const trust = builtIns.find(({ name }) => name === "trust") ?? expect.fail("no command");
const withServer = { mcpServers: { planted: { command: "planted" } } };
const waiting = (reason: string) => ({ servers: [{ admission: { status: "blocked", reason } }] });

const scene = (here: Machine, isTrusted: boolean, configuration: object = {}) =>
  slashScene({
    answers: [isTrusted],
    configuration: { trust: { trusted: true, source: "file" }, ...configuration },
    services: { context: contextOf(here, {}) },
  });

const asked = (here: Machine, servers: readonly string[], approved: readonly string[] = []): readonly unknown[] => [
  "ask",
  "trust",
  {
    kind: "trust",
    root: here.project,
    servers: servers.map((name) =>
      expect.objectContaining({ definition: expect.objectContaining({ name }), changed: undefined }),
    ),
    approved,
  },
];
const refused = (here: Machine): readonly unknown[] => [
  "note",
  "info",
  `Not trusted: ${here.project}. None of its servers was started.`,
  "/trust asks again",
];
const accepted = (here: Machine, servers: string): readonly (readonly unknown[])[] => [
  ["change"],
  ["note", "info", `Trusted: ${here.project}. Approved: ${servers}.`, "to revoke this: /trust remove"],
  ["start"],
];
const listed = [
  ["run", "trust", "list"],
  ["show", "/trust list", "output of trust list"],
];

test.each(["", "add"])("/trust %s asks about a server of the folder, and a yes approves it", async (words) => {
  await using here = await machine({ [projectFile]: withServer });
  expect(await scene(here, false).run(trust, words)).toEqual([asked(here, ["planted"]), refused(here)]);
  expect((await here.run("trust", "list")).stdout).toContain("is not trusted");
  expect(await scene(here, true).run(trust, words)).toEqual([asked(here, ["planted"]), ...accepted(here, "planted")]);
  expect((await here.run("trust", "list")).stdout).toContain(`${here.project} is trusted`);
  // Nothing is left to ask about.
  expect(await scene(here, true).run(trust, words)).toEqual(listed);
});

test("in a folder without servers, /trust lists the trusted folders and /trust add asks", async () => {
  await using here = await machine();
  expect(await scene(here, true).run(trust, "")).toEqual(listed);
  expect(await scene(here, true).run(trust, "add")).toEqual([asked(here, []), ...accepted(here, "no servers")]);
  expect(await scene(here, true).run(trust, "add")).toEqual(listed);
});

test.each([
  ["add", "awaiting_approval", true],
  ["import", "awaiting_approval", true],
  ["add", "untrusted_folder", true],
  ["add", "excluded", false],
  ["remove", "awaiting_approval", false],
  ["get", "awaiting_approval", false],
])("after /mcp %s with a server that is blocked (%s), the app asks for trust: %j", async (verb, reason, isAsked) => {
  await using here = await machine({ [projectFile]: withServer });
  const done = await scene(here, false, waiting(reason)).run(mcp, `${verb} x`);
  expect(done.slice(verb === "get" ? 2 : 3)).toEqual([
    ...(isAsked ? [asked(here, ["planted"]), refused(here)] : []),
    ["start"],
  ]);
});
