import { join } from "node:path";
import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createHost, type Host, type HostOptions } from "../../src/index.ts";

/** A host in an empty folder, with one server of the user that has `"trust": true`. */
async function openHost(folder: { readonly path: string }, options: HostOptions): Promise<Host> {
  const home = folder.path;
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(home, "none") };
  return createHost({
    environment: { env, home, cwd: join(home, "work"), platform: process.platform },
    settings: { mcpServers: { s: { ...stdioServer("well-behaved"), trust: true } } },
    ...options,
  });
}

test.each<[string, HostOptions]>([
  ["a trusted folder", { trust: true }],
  ["a host without a workspace", { workspace: false }],
])('"trust": true lets a model call without confirmation in %s', async (_, options) => {
  await using folder = await temporaryFolder();
  await folder.write("work/file", "");
  await using host = await openHost(folder, options);
  const { decision, trust } = await host.explain("s", "echo");
  expect([decision.decision, decision.rule.origin.source, trust]).toEqual(["allow", "trust", { counts: true }]);
  await host.start();
  expect(host.toolRegistry.getTool("echo")?.trust).toBe(true);
  expect(await host.callAsModel("echo", { text: "hi" })).toMatchObject({
    returnDisplay: expect.stringContaining("hi"),
  });
});

test.each<[string, HostOptions, string, string]>([
  ["a folder without a rule", {}, "no rule covers it", "fairlead trust add"],
  [
    "a folder that the embedding program distrusts",
    { trust: false },
    "decided by the embedding program",
    'The program that embeds Fairlead must trust the folder: set its host option "trust" to true.',
  ],
])('in %s, "trust": true has no effect, and the explanation names the folder', async (_, options, why, next) => {
  await using folder = await temporaryFolder();
  const root = join(folder.path, "work");
  await folder.write("work/file", "");
  await using host = await openHost(folder, options);
  const reason = `the folder ${root} is not trusted: ${why}`;
  for (const kind of ["tool", "resource"] as const)
    expect(await host.explain("s", "echo", undefined, { kind })).toMatchObject({
      decision: { decision: "ask_user" },
      trust: { counts: false, reason, next },
    });
  expect((await host.explain("s", "echo", undefined, { kind: "prompt" })).trust).toBeUndefined();
  expect((await host.explain("demo", "greet")).trust).toBeUndefined();
  await host.start();
  expect(host.toolRegistry.getTool("echo")?.trust).toBe(false);
  await expect(host.callAsModel("echo", { text: "hi" })).rejects.toMatchObject({ code: "denied" });
});

test("a program that trusts no folder at all also takes away what a server without a workspace was given", async () => {
  await using folder = await temporaryFolder();
  await folder.write("work/file", "");
  await using host = await openHost(folder, { workspace: false, trust: false });
  expect(await host.decide("s", "echo")).toMatchObject({ decision: "ask_user" });
});

test("a server without a workspace starts in the home folder, also if the current folder has a rule against it", async () => {
  await using folder = await temporaryFolder();
  await folder.write("work/file", "");
  await folder.write(".gemini/trustedFolders.json", { [join(folder.path, "work")]: "DO_NOT_TRUST" });
  const folders: string[] = [];
  await using host = await openHost(folder, {
    workspace: false,
    observe: (_, step) => void (step.step === "program" && folders.push(step.cwd)),
  });
  await host.start();
  expect(folders).toEqual([folder.path]);
  expect(await host.decide("s", "echo")).toMatchObject({ decision: "allow" });
});
