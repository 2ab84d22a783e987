import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { hasBubblewrap, programServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { type Machine, machine, projectFile, userFile } from "../../support/machine.ts";
import { shellProgram } from "../../support/path-program.ts";
import { openTerminalHere, type TerminalHere } from "../../support/terminal-here.ts";

const canBox = hasBubblewrap("the offer of mcp add");

async function fairlead(here: Machine, file: string): Promise<unknown> {
  return (JSON.parse(await here.read(file)) as { fairlead?: unknown }).fairlead;
}

async function answer(terminal: TerminalHere, question: RegExp, word: string): Promise<void> {
  await terminal.until(question);
  terminal.type(`${word}\r`);
}

const inSandbox = /Run "a" in a sandbox\?[\s\S]*\[Y\/n\]\s*$/;
const server = programServer("evaluator");

describe("in a script", () => {
  test("nothing is asked, and without --sandbox nothing is written about a sandbox", async () => {
    await using here = await machine();
    expect(await here.run("mcp", "add", "--no-test", "-s", "user", "a", "run")).toMatchObject({ code: 0 });
    expect(JSON.parse(await here.read(userFile))).toEqual({ mcpServers: { a: { command: "run" } } });
  });

  test.each([
    ["on", "on", "sandboxed: no network"],
    ["off", "off", "not sandboxed"],
    ['{"read": ["~/notes"], "hosts": ["api.example.com"]}', { read: ["~/notes"], hosts: ["api.example.com"] }, ""],
  ])("--sandbox %s is written beside the entry", async (word, written, line) => {
    await using here = await machine();
    const { code, stdout } = await here.run("mcp", "add", "--no-test", "-s", "user", "--sandbox", word, "a", "run");
    expect([code, await fairlead(here, userFile)]).toEqual([0, { servers: { a: { sandbox: written } } }]);
    expect(stdout).toContain(`sandbox  ${line}`);
  });

  test("a file that the arguments name and the sandbox does not show is told", async () => {
    await using here = await machine({ "home/notes/a.md": "x" });
    const argv = ["--no-test", "-s", "user", "--sandbox", "on", "a", "run", join(here.home, "notes")];
    const { stderr } = await here.run("mcp", "add", ...argv);
    expect(stderr).toContain("note: its sandbox does not show ~/notes: to show it, list it in");
  });

  test.each([
    ["yes", ["a", "run"], /--sandbox "yes" is none of on, off, default and a JSON object/],
    ["on", ["a", "https://example.com"], /"a" has a URL/],
    ["on", ["a", "docker", "run", "-i", "image"], /"a" runs a container/],
    ['{"read": "x"}', ["a", "run"], /"a" was not added: .*read/],
  ])("--sandbox %s %j is refused, and nothing is written", async (word, words, message) => {
    await using here = await machine({ [userFile]: {} });
    const { code, stderr } = await here.run("mcp", "add", "-s", "user", "--sandbox", word, ...words);
    expect(stderr).toMatch(message);
    expect(code).not.toBe(0);
    expect(await here.read(userFile)).toBe("{}");
  });

  test("--replace keeps the sandbox of the name, and the undo line puts a changed one back", async () => {
    const settings = {
      mcpServers: { a: { command: "old" } },
      fairlead: { servers: { a: { sandbox: { read: ["~/notes"] } } } },
    };
    await using here = await machine({ [userFile]: settings, "home/notes/a.md": "x" });
    await here.run("mcp", "add", "--no-test", "--replace", "-s", "user", "a", "new");
    expect(await fairlead(here, userFile)).toEqual(settings.fairlead);
    await here.write(userFile, settings);
    const { stderr } = await here.run(
      "mcp",
      "add",
      "--no-test",
      "--replace",
      "-s",
      "user",
      "--sandbox",
      "off",
      "a",
      "b",
    );
    expect(stderr).toContain(
      `undo: fairlead mcp add --replace --sandbox '{"read":["~/notes"]}' -s user a '{"command":"old"}'`,
    );
    const undo = ["--replace", "--sandbox", '{"read":["~/notes"]}', "-s", "user", "a", '{"command":"old"}'];
    await here.run("mcp", "add", "--no-test", ...undo);
    expect(JSON.parse(await here.read(userFile))).toEqual(settings);
  });

  test("the undo line of a first sandbox takes it away again, and that of mcp remove puts it back", async () => {
    await using here = await machine({ [userFile]: { mcpServers: { a: { command: "old" } } } });
    const { stderr } = await here.run(
      "mcp",
      "add",
      "--no-test",
      "--replace",
      "-s",
      "user",
      "--sandbox",
      "on",
      "a",
      "b",
    );
    expect(stderr).toContain(`undo: fairlead mcp add --replace --sandbox default -s user a '{"command":"old"}'`);
    await here.run("mcp", "add", "--no-test", "--replace", "--sandbox", "default", "-s", "user", "a", "b");
    expect(await fairlead(here, userFile)).toBeUndefined();
    await here.run("mcp", "add", "--no-test", "--replace", "--sandbox", "on", "-s", "user", "a", "b");
    const removed = await here.run("mcp", "remove", "a");
    expect(removed.stderr).toContain(`undo: fairlead mcp add --replace --sandbox on -s user a '{"command":"b"}'`);
  });

  test("a sandbox that belongs to the project's entry goes with it, and does not close the user's", async () => {
    await using here = await machine({
      [userFile]: { mcpServers: { a: { command: "mine" } } },
      [projectFile]: {
        mcpServers: { a: { command: "theirs" } },
        fairlead: { servers: { a: { sandbox: "on", enabled: false } } },
      },
    });
    const { code } = await here.run("mcp", "remove", "-s", "project", "a");
    expect([code, await fairlead(here, projectFile)]).toEqual([0, { servers: { a: { enabled: false } } }]);
  });
});

describe.runIf(canBox)("on a terminal with bubblewrap", () => {
  test("Enter runs the server in a sandbox, with the folders that the user allowed", async () => {
    await using here = await machine({ "home/notes/a.md": "x", "home/out/b": "x", "home/never/c": "x" });
    const folders = ["notes", "out", "never"].map((name) => join(here.home, name));
    const words = ["-s", "user", "a", server.command, ...server.args, ...folders];
    await using terminal = openTerminalHere(here, "mcp", "add", ...words);
    await answer(terminal, inSandbox, "");
    await answer(terminal, /May it see ~\/notes\?[\s\S]*\[R\/w\/n\]\s*$/, "");
    await answer(terminal, /May it see ~\/out\?[\s\S]*\[R\/w\/n\]\s*$/, "w");
    await answer(terminal, /May it see ~\/never\?[\s\S]*\[R\/w\/n\]\s*$/, "n");
    expect(await terminal.exitCode).toBe(0);
    expect(await fairlead(here, userFile)).toEqual({
      servers: { a: { sandbox: { read: ["~/notes"], write: ["~/out"] } } },
    });
    expect(terminal.screen()).toMatch(/sandbox +sandboxed: reads ~\/notes, writes ~\/out, no network/);
    expect(terminal.screen()).toMatch(/^"a" is connected/m);
  });

  test("a no is written too, so that the default of all servers does not change it", async () => {
    await using here = await machine();
    const words = ["-s", "user", "a", server.command, ...server.args];
    await using terminal = openTerminalHere(here, "mcp", "add", ...words);
    await answer(terminal, inSandbox, "n");
    expect(await terminal.exitCode).toBe(0);
    expect(await fairlead(here, userFile)).toEqual({ servers: { a: { sandbox: "off" } } });
  });

  test("a project's sandbox is in the project's file, with paths that hold for other users, and is approved", async () => {
    await using here = await machine({ "project/docs/a.md": "x" });
    const words = ["-s", "project", "a", server.command, ...server.args, "docs"];
    await using terminal = openTerminalHere(here, "mcp", "add", ...words);
    await answer(terminal, inSandbox, "y");
    await answer(terminal, /May it see \.\/docs\?[\s\S]*\[R\/w\/n\]\s*$/, "r");
    await answer(terminal, /Trust .*\? \[y\/N\]\s*$/, "y");
    expect(await terminal.exitCode).toBe(0);
    expect(await fairlead(here, projectFile)).toEqual({ servers: { a: { sandbox: { read: ["./docs"] } } } });
    expect(terminal.screen()).toMatch(/^"a" is connected/m);
  });

  test("the whole home is shown only if the user says so", async () => {
    await using here = await machine();
    await using terminal = openTerminalHere(here, "mcp", "add", "--no-test", "-s", "user", "a", "run", here.home);
    await answer(terminal, inSandbox, "");
    await answer(terminal, /May it see ~, which has your whole home in it\?[\s\S]*\[N\/r\/w\]\s*$/, "");
    expect(await terminal.exitCode).toBe(0);
    expect(await fairlead(here, userFile)).toEqual({ servers: { a: { sandbox: "on" } } });
  });

  test("a server with a URL, a container, --replace and --sandbox are not asked about", async () => {
    await using here = await machine();
    for (const words of [
      ["a", "https://127.0.0.1:1"],
      ["b", "docker", "run", "image"],
      ["--replace", "c", "run"],
      ["--sandbox", "off", "d", "run"],
    ]) {
      await using terminal = openTerminalHere(here, "mcp", "add", "--no-test", "-s", "user", ...words);
      expect(await terminal.exitCode, words.join(" ")).toBe(0);
    }
    expect(await fairlead(here, userFile)).toEqual({ servers: { d: { sandbox: "off" } } });
  });
});

describe("on a terminal where sandboxes do not work", () => {
  async function withBwrap(script: string): Promise<Machine> {
    const here = await machine();
    await shellProgram(here, "programs/bwrap", script);
    return { ...here, env: { ...here.env, PATH: join(here.path, "programs") } };
  }

  test.each([
    ["an old bubblewrap", "echo bubblewrap 0.7.0", /bubblewrap 0\.7\.0 is older than 0\.8\.0/, /Install bubblewrap/],
    [
      "namespaces that are refused",
      '[ "$1" = --version ] && echo bubblewrap 0.11.0 && exit; echo "bwrap: No permissions to create new namespace" >&2; exit 1',
      /this system refuses it: No permissions to create new namespace/,
      /Allow user namespaces/,
    ],
  ])("%s is named, and the user chooses", async (_, script, why, next) => {
    await using here = await withBwrap(script);
    await using terminal = openTerminalHere(here, "mcp", "add", "--no-test", "-s", "user", "a", "run");
    const screen = await terminal.until(/Add "a"\?[\s\S]*\[N\/s\/u\]\s*$/);
    expect(screen.replaceAll(/\s+/g, " ")).toMatch(why);
    expect(screen.replaceAll(/\s+/g, " ")).toMatch(next);
    terminal.type("u\r");
    expect(await terminal.exitCode).toBe(0);
    expect(await fairlead(here, userFile)).toEqual({ servers: { a: { sandbox: "off" } } });
  });

  test("without bubblewrap, Enter adds nothing, and s adds a server that does not start yet", async () => {
    await using here = await machine();
    await mkdir(join(here.path, "empty"));
    const bare = { ...here, env: { ...here.env, PATH: join(here.path, "empty") } };
    const words = ["-s", "user", "a", server.command, ...server.args];
    {
      await using terminal = openTerminalHere(bare, "mcp", "add", ...words);
      await answer(terminal, /Add "a"\?[\s\S]*\[N\/s\/u\]\s*$/, "");
      expect(await terminal.exitCode).not.toBe(0);
      expect(terminal.screen()).toMatch(/bubblewrap \(bwrap\) is not installed/);
      expect(terminal.screen()).toMatch(/nothing was changed/);
    }
    await using terminal = openTerminalHere(bare, "mcp", "add", ...words);
    await answer(terminal, /Add "a"\?[\s\S]*\[N\/s\/u\]\s*$/, "s");
    expect(await terminal.exitCode).toBe(0);
    expect(await fairlead(here, userFile)).toEqual({ servers: { a: { sandbox: "on" } } });
    expect(terminal.screen().replaceAll(/\s+/g, " ")).toMatch(
      /cannot connect to it: "a" was not started: it must run in a sandbox, and bubblewrap \(bwrap\) is not installed/,
    );
  });
});
