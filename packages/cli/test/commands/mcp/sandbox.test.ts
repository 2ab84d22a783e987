import { mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { hasBubblewrap } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { machine, projectFile, userFile } from "../../support/machine.ts";

const canBox = hasBubblewrap("fairlead mcp sandbox");
const settings = {
  mcpServers: {
    boxed: { command: process.execPath, args: ["-v"] },
    plain: { command: "run" },
    web: { url: "https://example.com" },
  },
  fairlead: { servers: { boxed: { sandbox: { hosts: ["api.example.com"], env: ["LANG"] } } } },
};

test("the user sees what a program has in its sandbox, as text and as JSON", async () => {
  await using here = await machine({ [userFile]: settings });
  const { code, stdout } = await here.run("mcp", "sandbox", "boxed");
  expect([code, stdout.split("\n", 1)]).toEqual([0, ["boxed  sandboxed: gets LANG, reaches api.example.com"]]);
  expect(stdout).toMatch(/\n {2}home +.*\/sandboxes\/boxed-\w+\/home \(private, stays\)\n/);
  expect(stdout).toMatch(/\n {2}reaches +api\.example\.com:443\n/);
  const document = JSON.parse((await here.run("mcp", "sandbox", "boxed", "--json")).stdout);
  expect(document).toMatchObject({
    server: "boxed",
    sandbox: { read: [], write: [], hosts: ["api.example.com:443"], tcp: [], env: ["LANG"] },
    hosts: ["api.example.com:443"],
    workingFolder: "/home/sandbox",
  });
});

test("a server without a sandbox says so, and has no shell", async () => {
  await using here = await machine({ [userFile]: settings });
  expect(await here.run("mcp", "sandbox", "plain")).toMatchObject({ code: 0, stdout: "plain  not sandboxed\n" });
  expect(JSON.parse((await here.run("mcp", "sandbox", "plain", "--json")).stdout)).toMatchObject({ sandbox: "off" });
  const { code, stderr } = await here.run("mcp", "sandbox", "plain", "--shell");
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('"plain" has no sandbox\n  next: Set "sandbox": "on" in fairlead.servers.plain'),
  ]);
});

test("a listed path that does not exist is named", async () => {
  await using here = await machine({
    [userFile]: {
      mcpServers: { s: { command: process.execPath } },
      fairlead: { servers: { s: { sandbox: { read: ["~/nowhere"] } } } },
    },
  });
  const { code, stderr } = await here.run("mcp", "sandbox", "s");
  expect([code, stderr]).toEqual([3, expect.stringMatching(/home\/nowhere is listed, but it does not exist/)]);
});

test("a workspace's profile cannot reach another folder through a link in the workspace", async () => {
  await using here = await machine({
    [projectFile]: {
      mcpServers: { s: { command: process.execPath } },
      fairlead: { servers: { s: { sandbox: { write: ["data"] } } } },
    },
  });
  await symlink(here.home, join(here.project, "data"));
  const { code, stderr } = await here.run("mcp", "sandbox", "s", "--trust-workspace");
  expect([code, stderr]).toEqual([3, expect.stringMatching(/project\/data is listed, but it is a link to .*\/home\./)]);
  await rm(join(here.project, "data"));
  await mkdir(join(here.project, "data"));
  expect(await here.run("mcp", "sandbox", "s", "--trust-workspace")).toMatchObject({ code: 0 });
});

describe.runIf(canBox)("a program in its sandbox", () => {
  test("that ends at once is said to have ended in its sandbox", async () => {
    await using here = await machine({ [userFile]: settings });
    const { code, stderr } = await here.run("mcp", "test", "boxed");
    expect([code, stderr]).toEqual([4, expect.stringContaining("(in its sandbox)")]);
  });

  test("that misses a file is shown with its sandbox and the command that finds what it misses", async () => {
    await using here = await machine({
      "home/server.mjs": 'import "./library.mjs";',
      "home/library.mjs": "",
      [userFile]: {
        mcpServers: { boxed: { command: process.execPath, args: ["~/server.mjs"] } },
        fairlead: { servers: { boxed: { sandbox: "on" } } },
      },
    });
    const { stdout, stderr } = await here.run("mcp", "test", "boxed");
    expect(stdout).toMatch(/\n {2}sandbox +sandboxed: no network\n/);
    expect(stderr).toContain("next: fairlead mcp sandbox boxed --learn\n");
  });
});
