import { readFile, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { bankOf, booksOf, list, lockedMachines, lockFile } from "../../support/locked-machine.ts";
import { type Machine, machine, projectFile, userFile } from "../../support/machine.ts";

const lockedMachine = lockedMachines();

const readLocked = (here: Machine): Promise<string> => here.read(lockFile);

/** What a lock file has of servers, without digests. */
async function outline(here: Machine): Promise<unknown> {
  const { servers } = JSON.parse(await readLocked(here)) as { servers: Record<string, Record<string, object>> };
  const named = Object.entries(servers).map(([name, { entry, version, prompts = {}, tools = {} }]) => {
    return [name, { entry, version, prompts: Object.keys(prompts), tools: Object.keys(tools) }] as const;
  });
  return Object.fromEntries(named);
}

describe("fairlead lock", () => {
  test("writes what every server of the workspace is, and none of the user's", async () => {
    await using here = await lockedMachine();
    expect(await outline(here)).toEqual({
      bank: { entry: bankOf(here), version: "reported:counted@1.0.0", prompts: [], tools: ["ask", "pay"] },
      books: { entry: booksOf(here), version: "reported:library@1.0.0", prompts: ["review"], tools: [] },
    });
  });

  test("says what it locked, and nothing is different the second time", async () => {
    await using here = await lockedMachine();
    const before = await readLocked(here);
    expect(await here.run("lock")).toEqual({
      code: 0,
      stdout: "bank: 2 tools\nbooks: 0 tools, 1 prompt\n",
      stderr: `${join(here.path, lockFile)} is up to date\n`,
    });
    expect(await readLocked(here)).toBe(before);
  });

  test("--json has the file, the servers and what is different", async () => {
    await using here = await lockedMachine();
    await here.write("list.json", list({ pay: "Pays twice." }));
    const { code, stdout } = await here.run("lock", "update", "bank", "--json");
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      {
        schemaVersion: 1,
        file: join(here.path, lockFile),
        state: "written",
        servers: [{ name: "bank", version: "reported:counted@1.0.0", tools: 1, prompts: 0 }],
        changes: [
          {
            name: "bank",
            kind: "changed",
            members: [],
            prompts: { added: [], removed: [], changed: [] },
            tools: {
              added: [],
              removed: ["ask"],
              changed: [
                { name: "pay", difference: [{ member: "description", before: "Pays once.", after: "Pays twice." }] },
              ],
            },
          },
        ],
      },
    ]);
  });

  test("holds no secret that is written in an entry, and all that decides what is run and reached", async () => {
    const canary = "canary-s3cr3t";
    const { command, args } = stdioServer("well-behaved");
    await using here = await machine({
      [projectFile]: {
        mcpServers: {
          s: {
            command,
            args: [
              ...args,
              "--token",
              canary,
              `--api-key=${canary}`,
              `https://u:${canary}@x.example/?token=${canary}`,
              "plain",
            ],
            env: {
              API_TOKEN: canary,
              PLAIN: canary,
              FROM: "${HOME}",
              LOG_LEVEL: "debug",
              BASE: `https://api.example.com/?api_key=${canary}`,
              NODE_OPTIONS: "--no-warnings",
            },
            headers: {},
            description: "not locked",
            timeout: 5000,
          },
        },
      },
    });
    expect(await here.run("lock", "--trust-workspace")).toMatchObject({ code: 0 });
    const text = await readLocked(here);
    expect(text).not.toContain(canary);
    expect(text).not.toContain("not locked");
    const { servers } = JSON.parse(text) as { servers: { s: { entry: unknown } } };
    expect(servers.s.entry).toEqual({
      command,
      args: [
        ...args,
        "--token",
        "(hidden)",
        "--api-key=(hidden)",
        "https://u:(hidden)@x.example/?token=(hidden)",
        "plain",
      ],
      env: {
        API_TOKEN: "(hidden)",
        PLAIN: "(hidden)",
        FROM: "${HOME}",
        LOG_LEVEL: "debug",
        BASE: "https://api.example.com/?api_key=(hidden)",
        NODE_OPTIONS: "--no-warnings",
      },
      headers: {},
      timeout: 5000,
    });
  });

  test("with no servers in the workspace says so, and writes nothing", async () => {
    await using here = await machine({ [userFile]: { mcpServers: { s: stdioServer("well-behaved") } } });
    const settings = join(here.project, ".gemini", "settings.json");
    expect(await here.run("lock")).toEqual({
      code: 0,
      stdout: `Nothing to lock: no servers in ${settings}.\n`,
      stderr: "",
    });
    expect(await here.run("lock", "verify")).toEqual({
      code: 0,
      stdout: `Nothing to verify: no servers in ${settings}, and no lock file.\n`,
      stderr: "",
    });
    expect(await here.run("lock", "--json")).toMatchObject({ code: 0, stdout: expect.stringContaining('"absent"') });
    await expect(readLocked(here)).rejects.toThrow(/ENOENT/);
  });

  test("with a server that cannot be asked writes nothing, and says why", async () => {
    await using here = await lockedMachine();
    const before = await readLocked(here);
    await here.write(projectFile, {
      mcpServers: { good: stdioServer("well-behaved"), gone: { command: "/nowhere/server" } },
    });
    const { code, stderr } = await here.run("lock", "--trust-workspace");
    expect([code, await readLocked(here)]).toEqual([4, before]);
    expect(stderr).toContain("/nowhere/server");
    await here.write(projectFile, { mcpServers: { one: { command: "/nowhere/1" }, two: { command: "/nowhere/2" } } });
    const both = await here.run("lock", "--trust-workspace");
    expect(both.code).toBe(4);
    expect(both.stderr).toContain("fairlead: 2 of 2 servers could not be reached; nothing was written\n");
    expect(both.stderr).toContain("/nowhere/1");
    expect(both.stderr).toContain("/nowhere/2");
  });

  test("never writes through a link that leads out of the workspace", async () => {
    await using here = await lockedMachine();
    await rm(join(here.path, lockFile));
    const elsewhere = await here.write("home/elsewhere", "mine");
    await symlink(elsewhere, join(here.path, lockFile));
    expect((await here.run("lock")).code).not.toBe(0);
    expect(await readFile(elsewhere, "utf8")).toBe("mine");
  });

  test("does not write over a file of a newer version", async () => {
    await using here = await lockedMachine();
    await here.write(lockFile, '{"schemaVersion":2}');
    const { code, stderr } = await here.run("lock");
    expect([code, stderr]).toEqual([3, expect.stringContaining("was written by a newer Fairlead")]);
    expect(await readLocked(here)).toBe('{"schemaVersion":2}');
  });

  test("writes a damaged file anew", async () => {
    await using here = await lockedMachine();
    const before = await readLocked(here);
    await here.write(lockFile, before.replace('"pay"', '"play"'));
    expect(await here.run("lock", "verify")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("a person or a merge changed the file"),
    });
    expect(await here.run("lock")).toMatchObject({ code: 0 });
    expect(await readLocked(here)).toBe(before);
  });
});

describe("fairlead lock update", () => {
  test("locks one server as it is now, shows what was different, and leaves the others as they were", async () => {
    await using here = await lockedMachine();
    const before = JSON.parse(await readLocked(here)) as { servers: Record<string, object> };
    await here.write("list.json", list({ pay: "Pays once.", steal: "Takes." }));
    expect(await here.run("lock", "update", "bank")).toEqual({
      code: 0,
      stdout: `bank: 2 tools
bank locked again with these changes:
  tool added: steal
  tool removed: ask
`,
      stderr: `wrote ${join(here.path, lockFile)}\n`,
    });
    const after = JSON.parse(await readLocked(here)) as { servers: Record<string, object> };
    expect(after.servers["books"]).toEqual(before.servers["books"]);
    expect(after.servers["bank"]).not.toEqual(before.servers["bank"]);
    expect(await here.run("lock", "verify")).toMatchObject({ code: 0 });
  });

  test("starts no other server, and mends what was edited by hand", async () => {
    await using here = await lockedMachine();
    const before = await readLocked(here);
    await here.write(lockFile, before.replace('"pay"', '"play"'));
    await here.write(projectFile, {
      mcpServers: {
        bank: bankOf(here),
        books: { command: "/nowhere/books" },
      },
    });
    expect(await here.run("lock", "update", "bank", "--trust-workspace")).toMatchObject({ code: 0 });
    expect(await readLocked(here)).toBe(before);
  });

  test("takes out a server that the settings do not have any more", async () => {
    await using here = await lockedMachine();
    await here.write(projectFile, { mcpServers: { bank: bankOf(here) } });
    expect(await here.run("lock", "update", "books")).toMatchObject({
      code: 0,
      stdout: "books removed from the lock file: it is no longer in the settings\n",
    });
    expect(Object.keys((await outline(here)) as object)).toEqual(["bank"]);
  });

  test("of a name that is nowhere is a mistake", async () => {
    await using here = await lockedMachine();
    const { code, stderr } = await here.run("lock", "update", "bang");
    expect([code, stderr]).toEqual([2, expect.stringContaining('did you mean "bank"?')]);
  });

  test("makes the file if there is none, with that server alone", async () => {
    await using here = await lockedMachine();
    await rm(join(here.path, lockFile));
    expect(await here.run("lock", "update", "bank")).toMatchObject({ code: 0, stdout: "bank: 2 tools\n" });
    expect(Object.keys((await outline(here)) as object)).toEqual(["bank"]);
    expect(await here.run("lock", "verify")).toMatchObject({
      code: 6,
      stdout: expect.stringContaining("books: in the settings, but not locked\n"),
    });
  });
});
