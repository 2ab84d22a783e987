import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Machine, machine, projectFile, userFile } from "../../support/machine.ts";

const servers = {
  mcpServers: {
    paypal: {
      command: "npx",
      args: ["-y", "some-package", `${" ".repeat(200)}; rm -rf /`, "\u202Eexe", ""],
      env: { TOKEN: "$TOKEN", LITERAL: "s3cret" },
      cwd: "sub",
      trust: true,
    },
    web: { url: "https://$HOST/mcp", headers: { Authorization: "Bearer ${secret:S}" } },
    nonsense: { args: [] },
  },
};

async function state(here: Machine): Promise<{ folders: unknown[]; approvals: unknown[] }> {
  return JSON.parse((await here.run("trust", "list", "--json")).stdout) as { folders: unknown[]; approvals: unknown[] };
}

describe("trust add", () => {
  test("without a terminal shows everything, exits with 6 and writes nothing", async () => {
    await using here = await machine({ [projectFile]: servers, "home/.env": "HOST=example.com" });
    const { code, stdout, stderr } = await here.run("trust", "add");
    expect({ code, stdout }).toEqual({ code: 6, stdout: "" });
    const file = `${here.project}/.gemini/settings.json`;
    expect(stderr).toBe(`folder: ${here.project} (not trusted yet)
  If you trust the folder, Fairlead reads its .gemini/settings.json and .env files. Each server still needs an approval to start.
2 servers to approve:

  paypal
    written in   ${file}:3:5
    transport    stdio
    command      npx
    arguments    1: -y
                 2: some-package
                 3: ${" ".repeat(200)}; rm -rf /
                 4: ⟨U+202E⟩exe
                 5: 
    environment  TOKEN=$TOKEN
                 LITERAL=s3cret
    cwd          sub
    resolves to  in ${here.project}/sub
    variables    TOKEN is not set
    sandbox      not sandboxed
    timeout      600000 ms
    trust: true  the server's tools run without confirmation
    note         downloads and runs code: some-package from npm
                 unpinned: a later start may run another version; to write the exact one: fairlead mcp pin paypal

  web
    written in   ${file}:19:5
    transport    http
    url          https://$HOST/mcp
    headers      Authorization: Bearer \${secret:S}
    resolves to  https://example.com
    variables    HOST from your .env file
    secrets      S from the secret store
    timeout      600000 ms

  nonsense cannot be approved (${file}:25:5): server "nonsense": the entry has none of command, url and httpUrl; it must have exactly one of them
fairlead: "${here.project}" needs your confirmation (servers to approve: 2), and there is no terminal to ask on; nothing was written
  next: in a terminal: fairlead trust add ${here.project}; without a terminal, read the servers above, then run: fairlead trust add ${here.project} --yes
`);
    expect(await state(here)).toMatchObject({ folders: [], approvals: [] });
  });

  test("--quiet hides nothing of what has to be decided", async () => {
    await using here = await machine({ [projectFile]: servers });
    expect((await here.run("trust", "add", "--quiet")).stderr).toMatch(/some-package/);
  });

  test("--yes trusts the folder and approves every server as it stands", async () => {
    await using here = await machine({ [projectFile]: servers });
    const { code, stdout } = await here.run("trust", "add", "--yes", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      schemaVersion: 1,
      root: here.project,
      trusted: true,
      approved: ["paypal", "web"],
      waiting: [],
    });
    expect(await state(here)).toMatchObject({
      folders: [{ path: here.project, level: "TRUST_FOLDER" }],
      approvals: [{ root: here.project, servers: expect.arrayContaining([expect.objectContaining({ name: "web" })]) }],
    });
  });

  test("a run later there is nothing left to ask; after a change only that", async () => {
    await using here = await machine({ [projectFile]: { mcpServers: { a: { command: "x" }, b: { command: "y" } } } });
    await here.run("trust", "add", "--yes");
    expect(await here.run("trust", "add")).toMatchObject({ code: 0 });
    await here.write(projectFile, { mcpServers: { a: { command: "x", args: ["z"] }, b: { command: "y" } } });
    const { code, stderr } = await here.run("trust", "add");
    expect(code).toBe(6);
    expect(stderr).toMatch(
      /\(trusted\)\nalready approved: b\n1 server to approve:\n\n {2}a \(has changed since you approved it\)\n/,
    );
  });

  test("a variable that trusts for one run is no rule: the folder is still asked about", async () => {
    await using here = await machine({ [projectFile]: servers });
    const { code, stderr } = await here.runWith({ env: { FAIRLEAD_TRUST_WORKSPACE: "true" } }, "trust", "add");
    expect(code).toBe(6);
    expect(stderr).toMatch(/not trusted yet[\s\S]*2 servers to approve/);
  });

  test("a variable that distrusts does not hide what would be approved", async () => {
    await using here = await machine({ [projectFile]: servers });
    const { stderr } = await here.runWith({ env: { GEMINI_CLI_TRUST_WORKSPACE: "false" } }, "trust", "add");
    expect(stderr).toMatch(/2 servers to approve/);
  });

  test("--parent trusts the folder above", async () => {
    await using here = await machine({
      "project/.gemini/settings.json": {},
      "projects/one/.gemini/settings.json": {},
      "projects/two/.gemini/settings.json": {},
    });
    await here.run("trust", "add", "--parent", "--yes", "../projects/one");
    const trusted = async (folder: string): Promise<unknown> =>
      JSON.parse((await here.run("trust", "list", "--json", "-C", join(here.path, folder))).stdout).trusted;
    expect([await trusted("projects/one"), await trusted("projects/two"), await trusted("project")]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test("a link to a folder trusts the folder, shown by its real path", async () => {
    await using here = await machine({ [projectFile]: {} });
    await symlink(here.project, join(here.path, "link"));
    const { stdout } = await here.runWith({ cwd: here.path }, "trust", "add", "--yes", "link");
    expect(stdout).toBe(`trusted: ${here.project}\n`);
  });

  test("the home folder is named for what it is", async () => {
    await using here = await machine();
    expect((await here.runWith({ cwd: here.home }, "trust", "add")).stderr).toMatch(
      /your home folder: trusting it trusts every folder/,
    );
  });

  test("a folder that is not there is a mistake in the command line", async () => {
    await using here = await machine();
    expect(await here.run("trust", "add", "--yes", "nowhere")).toMatchObject({ code: 2 });
  });
});

describe("trust remove", () => {
  test("takes back the rule and the approvals: trusted again, the servers ask again", async () => {
    await using here = await machine({ [projectFile]: { mcpServers: { a: { command: "x" } } } });
    await here.run("trust", "add", "--yes");
    const { code, stdout } = await here.run("trust", "remove");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `removed the trust rule of ${here.project}\nno longer approved: a\n`,
    });
    expect(await state(here)).toMatchObject({ folders: [], approvals: [] });
  });

  test("says what still trusts the folder", async () => {
    await using here = await machine({ [projectFile]: {} });
    await here.run("trust", "add", "--yes", here.path);
    await here.run("trust", "add", "--yes", "--parent");
    expect((await here.run("trust", "remove")).stderr).toMatch(/still trusted: TRUST_FOLDER for/);
  });

  test.each([true, false])("--json says whether the folder is still trusted: %s", async (isParentTrusted) => {
    await using here = await machine({ [projectFile]: {} });
    await here.run("trust", "add", "--yes");
    if (isParentTrusted) await here.run("trust", "add", "--yes", here.path);
    const { stdout } = await here.run("trust", "remove", "--json");
    expect(JSON.parse(stdout)).toEqual({
      schemaVersion: 1,
      folder: here.project,
      removed: true,
      revoked: [],
      trusted: isParentTrusted,
    });
  });

  test("a folder that is gone can still be forgotten", async () => {
    const gone = "/nowhere/gone";
    await using here = await machine({ "home/.gemini/trustedFolders.json": { [gone]: "TRUST_FOLDER" } });
    expect(await here.run("trust", "remove", gone)).toMatchObject({ code: 0 });
    expect(JSON.parse(await here.read("home/.gemini/trustedFolders.json"))).toEqual({});
  });

  test("a folder without rule and approvals: exit code 2", async () => {
    await using here = await machine();
    const { code, stderr } = await here.run("trust", "remove");
    expect(code).toBe(2);
    expect(stderr).toMatch(/ has no trust rule and no approved servers\n {2}next: fairlead trust list/);
  });
});

test("trust list shows the verdict here, the rules and the approvals", async () => {
  await using here = await machine({
    [projectFile]: { mcpServers: { a: { command: "x" } } },
    "home/.gemini/trustedFolders.json": { "/nowhere/gone": "DO_NOT_TRUST" },
    [userFile]: {},
  });
  await here.run("trust", "add", "--yes");
  const { stdout } = await here.run("trust", "list");
  expect(stdout).toMatch(/^here: .*project is trusted \(TRUST_FOLDER for .*\)\n/);
  expect(stdout).toMatch(
    /\n {2}not trusted +\/nowhere\/gone +\(no effect: the folder does not exist, or is a link\)\n/,
  );
  expect(stdout).toMatch(/\napproved servers:\n {2}.*project\n {4}a {2}approved \d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}/);
  expect((await here.run("trust", "list", "--utc")).stdout).toMatch(/approved \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ {2}/);
});
