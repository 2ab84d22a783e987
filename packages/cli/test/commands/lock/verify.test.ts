import { rm } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { bankOf, booksOf, list, lockedMachines, lockFile } from "../../support/locked-machine.ts";
import { machine, projectFile } from "../../support/machine.ts";

const lockedMachine = lockedMachines();

test("servers that are as locked pass, each by name", async () => {
  await using here = await lockedMachine();
  expect(await here.run("lock", "verify")).toEqual({
    code: 0,
    stdout: "bank: matches the lock file (2 tools)\nbooks: matches the lock file (0 tools, 1 prompt)\n",
    stderr: "",
  });
  expect(JSON.parse((await here.run("lock", "verify", "--json")).stdout)).toEqual({
    schemaVersion: 1,
    file: join(here.path, lockFile),
    ok: true,
    servers: [
      { name: "bank", state: "as_locked" },
      { name: "books", state: "as_locked" },
    ],
  });
});

describe("--breaking", () => {
  test("passes other words and new tools, and says that they are harmless", async () => {
    await using here = await lockedMachine();
    await here.write("list.json", list({ pay: "Pays at once.", ask: "Asks.", show: "Shows." }));
    const { code, stdout } = await here.run("lock", "verify", "--breaking");
    expect(stdout).toContain("  no breaking change\n");
    expect(code).toBe(0);
    expect(await here.run("lock", "verify")).toMatchObject({ code: 6 });
  });

  test("is ok in JSON if the exit code is 0", async () => {
    await using here = await lockedMachine();
    await here.write("list.json", list({ pay: "Pays at once.", ask: "Asks." }));
    const { code, stdout } = await here.run("lock", "verify", "--breaking", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, servers: [{ state: "drifted", breaking: [] }, {}] });
    expect(code).toBe(0);
  });

  test("fails on a new required parameter", async () => {
    await using here = await lockedMachine();
    const [pay, ask] = list({ pay: "Pays once.", ask: "Asks." });
    const inputSchema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
    await here.write("list.json", [{ ...pay, inputSchema }, ask ?? {}]);
    const { code, stdout } = await here.run("lock", "verify", "--breaking", "--json");
    expect(code).toBe(6);
    expect((JSON.parse(stdout) as { servers: unknown[] }).servers[0]).toMatchObject({
      breaking: ["tool pay: the parameter text is now required"],
    });
  });
});

describe("drift exits with 6", () => {
  test("and shows tools that were added, removed and changed, with the difference while it is remembered", async () => {
    await using here = await lockedMachine();
    await here.write("list.json", list({ pay: "Pays twice.\u200b", steal: "Takes." }));
    const first = await here.run("lock", "verify");
    expect(first).toEqual({
      code: 6,
      stdout: expect.stringMatching(
        /^bank: differs from the lock file\n {2}tool added: steal\n {2}tool removed: ask\n/,
      ) as string,
      stderr: `fairlead: 1 of 2 servers differs from the lock file
  next: to accept the change: fairlead lock update bank
`,
    });
    expect(first.stdout).toContain(`  tool changed: pay
    description
      - Pays once.
      + Pays twice.⟨U+200B⟩
  breaking: tool ask was removed
books: matches the lock file`);
    const again = await here.run("lock", "verify", "--json");
    expect(again.code).toBe(6);
    expect((JSON.parse(again.stdout) as { servers: unknown[] }).servers[0]).toMatchObject({
      name: "bank",
      state: "drifted",
      kind: "changed",
      tools: { added: ["steal"], removed: ["ask"] },
    });
  });

  test("and shows members of an entry before and after; a server that the user has not approved is not started", async () => {
    await using here = await lockedMachine();
    const { command, args } = stdioServer("counted", join(here.path, "started"), join(here.path, "list.json"));
    await here.write(projectFile, {
      mcpServers: { bank: { command, args, env: { BASE: "https://evil.example" } }, books: booksOf(here) },
    });
    const { code, stdout } = await here.run("lock", "verify", "--trust-workspace");
    expect(code).toBe(6);
    expect(stdout).toContain(`bank: differs from the lock file; it was not started
  args
    - ${JSON.stringify(bankOf(here).args)}
    + ${JSON.stringify(args)}
  env.BASE
    + https://evil.example
  breaking: args of the entry has changed
  breaking: env.BASE of the entry has changed
books: matches the lock file`);
    await expect(here.read("started")).rejects.toThrow(/ENOENT/);
  });

  test("also for an entry that the person has approved since: then its tools are compared too", async () => {
    await using here = await lockedMachine();
    await here.write("list.json", list({ pay: "Pays once.", ask: "Asks.", steal: "Takes." }));
    const bank = { ...bankOf(here), timeout: 5000 };
    await here.write(projectFile, { mcpServers: { bank, books: booksOf(here) } });
    expect(await here.run("trust", "add", "--yes")).toMatchObject({ code: 0 });
    const { code, stdout } = await here.run("lock", "verify");
    expect(code).toBe(6);
    expect(stdout).toContain("bank: differs from the lock file\n  timeout\n    + 5000\n  tool added: steal\n");
  });

  test("for servers that are only here or only there", async () => {
    await using here = await lockedMachine();
    const bank = bankOf(here);
    await here.write(projectFile, { mcpServers: { bank, more: { command: "touch", args: [join(here.path, "ran")] } } });
    const { code, stdout, stderr } = await here.run("lock", "verify", "--trust-workspace");
    expect([code, stdout]).toEqual([
      6,
      `bank: matches the lock file (2 tools)
more: in the settings, but not locked; it was not started
books: locked, but no longer in the settings
`,
    ]);
    expect(stderr).toContain(
      "fairlead: 2 of 3 servers differ from the lock file\n  next: to accept the change: fairlead lock update\n",
    );
    await expect(here.read("ran")).rejects.toThrow(/ENOENT/);
  });

  test("for a lock file that was taken away", async () => {
    await using here = await lockedMachine();
    await rm(join(here.path, lockFile));
    expect(await here.run("lock", "verify")).toEqual({
      code: 6,
      stdout: "",
      stderr: `fairlead: ${join(here.path, lockFile)} does not exist: 2 servers of this workspace are not locked
  next: fairlead lock
`,
    });
  });
});

describe("a server that cannot be asked", () => {
  test("does not pass: exit 4, and what is known is said", async () => {
    await using here = await lockedMachine();
    await rm(join(here.path, "list.json"));
    await here.write("list.json", "not JSON: the server breaks down over it");
    const { code, stdout, stderr } = await here.run("lock", "verify");
    expect(code).toBe(4);
    expect(stdout).toMatch(/^bank: cannot be checked: .+\n/);
    expect(stdout).toContain("\nbooks: matches the lock file");
    expect(stderr).toContain("fairlead: 1 of 2 servers could not be checked\n");
    const { servers, ok } = JSON.parse((await here.run("lock", "verify", "--json")).stdout) as {
      servers: unknown[];
      ok: boolean;
    };
    expect([ok, servers[0]]).toEqual([
      false,
      {
        name: "bank",
        state: "unchecked",
        error: expect.objectContaining({ code: "server_exited" }) as object,
      },
    ]);
  });

  test("weighs less than one that is different, and is named all the same", async () => {
    await using here = await lockedMachine();
    await here.write("list.json", "not JSON");
    await here.write(projectFile, {
      mcpServers: {
        bank: bankOf(here),
        books: stdioServer("well-behaved"),
      },
    });
    const { code, stderr } = await here.run("lock", "verify", "--trust-workspace");
    expect([code, stderr]).toEqual([
      6,
      expect.stringContaining("1 of 2 servers differs from the lock file, and 1 of 2 servers could not be checked\n"),
    ]);
  });

  test("because the user has not approved it is 6, with what to type", async () => {
    await using here = await lockedMachine();
    expect(await here.run("trust", "remove")).toMatchObject({ code: 0 });
    expect(await here.run("trust", "add", "--yes")).toMatchObject({ code: 0 });
    await here.write(projectFile, {
      mcpServers: {
        bank: { ...bankOf(here), description: "no member of the lock" },
        books: { ...booksOf(here), env: { PLAIN: "s3cret" } },
      },
    });
    const { code, stdout, stderr } = await here.run("lock", "verify");
    expect(code).toBe(6);
    expect(stdout).toContain("bank: matches the lock file");
    expect(stdout).toContain("books: cannot be checked:");
    expect(stdout).toContain("next: fairlead trust add");
    expect(stderr).toContain("1 of 2 servers differs from the lock file");
  });
});

test("in a folder that is not trusted nothing is started: exit 6, with what to type", async () => {
  await using here = await machine({
    [projectFile]: { mcpServers: { s: { command: "touch", args: ["ran"] } } },
    [lockFile]: "{",
  });
  for (const words of [["lock"], ["lock", "verify"], ["lock", "update", "s"]]) {
    const { code, stdout, stderr } = await here.run(...words);
    expect([code, stdout]).toEqual([6, ""]);
    expect(stderr).toContain(`fairlead: ${here.project} is not trusted`);
    expect(stderr).toContain("next: fairlead trust add\n");
  }
  await expect(here.read("project/ran")).rejects.toThrow(/ENOENT/);
});

test("where there is no workspace there is nothing to lock", async () => {
  await using here = await lockedMachine();
  const { code, stderr } = await here.run("lock", "verify", "--no-workspace");
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining("there is no project: this is the home folder, or --no-workspace is set\n"),
  ]);
});
