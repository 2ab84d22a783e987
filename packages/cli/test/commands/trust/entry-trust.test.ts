import { expect, test } from "vitest";
import { type Machine, machine, projectFile, userFile } from "../../support/machine.ts";

const entry = { command: "/bin/false", trust: true };

async function both(here: Machine, ...words: readonly string[]): Promise<readonly [string | undefined, string]> {
  const got = await here.run("mcp", "get", "s", ...words);
  const explained = await here.run("policy", "explain", "s.x", ...words);
  return [
    /^ {2}trust +(.*?)\n {2}\w/ms.exec(got.stdout)?.[1]?.replace(/\n +/g, "\n"),
    explained.stdout.replace(/\n {2}note .*/, ""),
  ];
}

test('mcp get and policy explain agree on what "trust": true does, and name a folder that is not trusted', async () => {
  await using here = await machine({ [userFile]: { mcpServers: { s: entry } } });
  const reason = `the folder ${here.project} is not trusted: no rule covers it`;
  const allowed = `s.x: allow
  because  "trust": true of "s" in ${here.home}/.gemini/settings.json:3 allows it
  weaker   the default for tools asks about it
`;
  const runs = "true: the server's tools run without confirmation";
  expect(await both(here)).toEqual([
    `true, but it has no effect: ${reason}\nnext: fairlead trust add`,
    `s.x: ask
  because  the default for tools asks about it
  trust    "trust": true has no effect: ${reason}
           next: fairlead trust add
`,
  ]);
  expect(await both(here, "--no-workspace")).toEqual([runs, allowed]);
  await here.run("trust", "add", "--yes");
  expect(await both(here)).toEqual([runs, allowed]);
});

test("the JSON documents of both have the same effect, with its reason", async () => {
  await using here = await machine({ [userFile]: { mcpServers: { s: entry, t: { command: "/bin/false" } } } });
  const document = async (...words: readonly string[]): Promise<unknown> =>
    JSON.parse((await here.run(...words, "--json")).stdout);
  const trustEffect = {
    counts: false,
    reason: `the folder ${here.project} is not trusted: no rule covers it`,
    next: "fairlead trust add",
  };
  const folder = { root: here.project, trusted: false, source: "default", detail: "no rule covers it" };
  expect(await document("mcp", "get", "s")).toMatchObject({ trust: true, trustEffect });
  expect(await document("policy", "explain", "s.x")).toMatchObject({ decision: "ask_user", trustEffect, folder });
  expect(await document("mcp", "get", "t")).not.toHaveProperty("trustEffect");
  expect(await document("policy", "explain", "t.x")).not.toHaveProperty("trustEffect");
  const none = { ...folder, source: "no_workspace", detail: "no workspace is used" };
  expect(await document("policy", "explain", "s.x", "--no-workspace")).toMatchObject({
    decision: "allow",
    trustEffect: { counts: true },
    folder: none,
  });
});

test("an entry that may not start has the reason for that", async () => {
  await using here = await machine({ [projectFile]: { mcpServers: { s: entry } } });
  const [got, explained] = await both(here);
  const reason = `has no effect: "s" (${here.project}/.gemini/settings.json:3) belongs to ${here.project}, a folder that is not trusted: no rule covers it`;
  expect(got).toBe(`true, but it ${reason}`);
  expect(explained).toContain(`  trust    "trust": true ${reason}\n           next: fairlead trust add\n`);
});
