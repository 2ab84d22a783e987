import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Machine, machine, userFile } from "../support/machine.ts";

const secret = "seeded-secret-0123456789";
let here: Machine;

beforeAll(async () => {
  here = await machine({
    [userFile]: { mcpServers: { shop: { ...stdioServer("well-behaved"), env: { API_TOKEN: secret } } } },
  });
});
afterAll(() => here[Symbol.asyncDispose]());

test("checks that hold exit with 0; the others exit with 1 and say why", async () => {
  await here.write(
    "project/checks.yaml",
    `server: shop
tools: { include: [echo], exact: true }
checks:
  - name: says it
    call: echo
    arguments: { text: hello }
    expect: { text: hello }
  - name: refuses a number
    call: echo
    arguments: { text: 3 }
    expect: { isError: true, contains: text }
`,
  );
  const passed = await here.run("test", "checks.yaml");
  expect(passed).toMatchObject({ code: 0, stderr: "" });
  expect(passed.stdout.replaceAll(/\d+ ms/g, "N ms")).toBe(
    "checks.yaml\n  ✓ tools (N ms)\n  ✓ says it (N ms)\n  ✓ refuses a number (N ms)\n",
  );
  await here.write("project/wrong.json", {
    server: "shop",
    checks: [{ call: "echo", arguments: { text: "<a>" }, expect: { text: "b" } }],
  });
  const failed = await here.run("test", "wrong.json", "checks.yaml", "--json", "--junit", "report.xml");
  expect(failed.code).toBe(1);
  expect(JSON.parse(failed.stdout)).toMatchObject({
    schemaVersion: 1,
    ok: false,
    files: [
      { ok: false, checks: [{ name: "echo", status: "failed", problems: ['the text is "<a>", expected "b"'] }] },
      { ok: true, server: "shop" },
    ],
  });
  const report = await here.read("project/report.xml");
  expect(report).toContain('tests="1" failures="1" errors="0"');
  expect(report).toContain("the text is &quot;&lt;a&gt;&quot;, expected &quot;b&quot;");
});

test("--update writes snapshots without secrets, and the next run compares them", async () => {
  const checks = (text: string) => ({
    server: "shop",
    checks: [{ name: "shown", call: "echo", arguments: { text }, expect: { snapshot: true } }],
  });
  await here.write("project/snap.json", checks(`${secret} at 2026-01-31T08:30:00Z`));
  expect(await here.run("test", "snap.json")).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("there is no snapshot yet: run the command again with --update") as string,
  });
  expect(await here.run("test", "snap.json", "--update")).toMatchObject({ code: 0 });
  const kept = await here.read("project/snap.snap.json");
  expect(kept).toContain("(hidden) at <time>");
  expect(kept).not.toContain(secret);
  expect(await here.run("test", "snap.json")).toMatchObject({ code: 0 });
  await here.write("project/snap.json", checks("other"));
  const { code, stdout } = await here.run("test", "snap.json");
  expect(code).toBe(1);
  expect(stdout).toContain('is "other", in the snapshot');
});

test("a command in a file is started only in a trusted folder", async () => {
  const started = join(here.path, "started");
  const { command, args } = stdioServer("counted", started);
  const checks = [{ call: "echo", arguments: { text: "hi" }, expect: { text: "hi" } }];
  await here.write("project/command.json", { command: [command, ...args], checks });
  const refused = await here.run("test", "command.json");
  expect(refused).toMatchObject({ code: 1, stdout: expect.stringContaining("is not trusted") as string });
  await expect(here.read("started")).rejects.toThrow(/ENOENT/);
  expect(await here.run("test", "command.json", "--trust-workspace")).toMatchObject({ code: 0 });
  expect(await here.read("started")).toContain("call echo");
});

test("the trust of a workspace does not extend to files of checks outside of it", async () => {
  const started = join(here.path, "started-outside");
  const { command, args } = stdioServer("counted", started);
  await here.write("elsewhere/command.json", { command: [command, ...args], checks: [] });
  await symlink(join(here.path, "elsewhere"), join(here.project, "linked"));
  for (const file of ["../elsewhere/command.json", "linked/command.json"]) {
    const refused = await here.run("test", file, "--trust-workspace");
    expect(refused).toMatchObject({ code: 1, stdout: expect.stringContaining("is not in the workspace") as string });
  }
  await expect(here.read("started-outside")).rejects.toThrow(/ENOENT/);
});

test("a file that is missing or wrong exits with 2 and names the mistake", async () => {
  expect(await here.run("test", "no.yaml")).toMatchObject({ code: 2 });
  await here.write("project/bad.yaml", "server: [\n");
  expect((await here.run("test", "bad.yaml")).stderr).toContain("bad.yaml cannot be read: ");
  await here.write("project/typo.yaml", "server: shop\ncheks: []\n");
  const { code, stderr } = await here.run("test", "typo.yaml");
  expect(code).toBe(2);
  expect(stderr).toContain('unknown member "cheks"; did you mean "checks"?');
});
