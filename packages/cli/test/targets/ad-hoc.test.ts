import { chmod, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { behaves, programServer, webServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { processesOf } from "../support/left-over.ts";
import { type Machine, machine, projectFile, userFile } from "../support/machine.ts";

const { command, args } = programServer("well-behaved");
const line = commandLine({ command, args });

/** A program that tells where it runs, and what it is given. */
async function withSpy(
  files: Readonly<Record<string, string | object>> = {},
): Promise<Machine & { readonly spy: string }> {
  const here = await machine(files);
  const script = `#!/bin/sh\npwd > "${here.path}/seen"\necho "$1 $TYPED $HIDDEN" >> "${here.path}/seen"\nexec ${line}\n`;
  const spy = await here.write("tools/spy", script);
  await chmod(spy, 0o755);
  return { ...here, spy };
}

const trusted = { env: { GEMINI_CLI_TRUST_WORKSPACE: "true" } };

describe("a program", () => {
  test("is started for the one call, and nothing of it stays", async () => {
    await using here = await machine();
    const ending = await here.run("call", "--stdio", line, "echo", "text=hello");
    expect(ending).toEqual({ code: 0, stdout: "hello\n", stderr: "" });
    expect(processesOf(here)).toEqual([]);
    expect(await readdir(join(here.home, ".gemini")).catch(() => [])).toEqual([]);
  });

  test("is called as in code, too", async () => {
    await using here = await machine();
    const ending = await here.run("call", "--stdio", line, 'echo(text: "hello")');
    expect(ending).toEqual({ code: 0, stdout: "hello\n", stderr: "" });
  });

  test("sees its own variables and no others, and is named in the document", async () => {
    await using here = await withSpy();
    const words = ["--stdio", `${here.spy} "a b"`, "-e", "TYPED=yes", "echo", "text=1", "--json", "--name", "spy"];
    const { code, stdout } = await here.runWith({ env: { HIDDEN: "secret" } }, "call", ...words);
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, server: "spy", tool: "echo", display: "1" });
    expect(await here.read("seen")).toBe(`${here.home}\na b yes \n`);
  });

  test("is handed a variable by its name", async () => {
    await using here = await withSpy();
    await here.runWith({ env: { TYPED: "mine" } }, "call", "--stdio", `${here.spy} x`, "-e", "TYPED", "echo", "text=1");
    expect(await here.read("seen")).toBe(`${here.home}\nx mine \n`);
  });

  test("starts where the person is, in a trusted folder", async () => {
    await using here = await withSpy({ "project/deep/file": "" });
    const cwd = join(here.project, "deep");
    const { code, stderr } = await here.runWith(
      { ...trusted, cwd },
      "call",
      "--stdio",
      `${here.spy} x`,
      "echo",
      "text=1",
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(await here.read("seen")).toMatch(`${cwd}\n`);
  });

  test("starts in the home folder elsewhere, and says so if a file is meant that lies here", async () => {
    await using here = await withSpy({ "project/notes.txt": "" });
    expect(await here.run("call", "--stdio", `${here.spy} x`, "echo", "text=1")).toMatchObject({ code: 0, stderr: "" });
    const { code, stderr } = await here.run("call", "--stdio", `${here.spy} notes.txt`, "echo", "text=1");
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: `note: this folder is not trusted, so the program starts in ${here.home} and looks for "notes.txt" there\n  next: write the absolute path, or: fairlead trust add\n`,
    });
    expect(await here.read("seen")).toMatch(`${here.home}\n`);
  });

  test.each([
    ["by its path", "./planted"],
    ["by way of PATH", "planted"],
  ])("of a folder that is not trusted does not run: %s", async (_name, word) => {
    await using here = await machine({ "project/planted": "#!/bin/sh\ntouch ran\n" });
    await chmod(join(here.project, "planted"), 0o755);
    const env = { PATH: `.:${here.project}:${here.env["PATH"]}` };
    const { code, stdout } = await here.runWith({ env }, "call", "--stdio", word, "echo");
    expect([code, stdout]).toEqual([word === "planted" ? 4 : 6, ""]);
    expect(await readdir(here.project)).not.toContain("ran");
  });

  test("is found from where the person is, in a trusted folder", async () => {
    await using here = await withSpy({ "project/deep/file": "" });
    const cwd = join(here.project, "deep");
    const { code, stdout } = await here.runWith(
      { ...trusted, cwd },
      "call",
      "--stdio",
      "../../tools/spy x",
      "echo",
      "text=1",
    );
    expect([code, stdout]).toEqual([0, "1\n"]);
  });
});

describe("an address", () => {
  test("is called with its headers", async () => {
    await using web = await webServer(behaves);
    await using here = await machine();
    const ending = await here.run(
      "call",
      `${web.origin}/mcp`,
      "echo",
      "text=hello",
      "-H",
      "X-Key: 1",
      "--header",
      "X-Other: 2",
    );
    expect(ending).toEqual({ code: 0, stdout: "hello\n", stderr: "" });
    const headers = web.seen.map((request) => [request.headers["x-key"], request.headers["x-other"]]);
    expect(new Set(headers.map(String))).toEqual(new Set(["1,2"]));
  });

  test("gets a name that is free", async () => {
    await using web = await webServer(behaves);
    const host = new URL(web.origin).host.replace(":", "-");
    await using here = await machine({ [userFile]: { mcpServers: { [host]: { command: "mine" } } } });
    const { code, stdout } = await here.run("call", web.origin, "echo", "text=1", "--json");
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, server: `${host}-2` });
  });

  test("an unknown tool leads to a command that works here", async () => {
    await using web = await webServer(behaves);
    await using here = await machine();
    expect(await here.run("call", web.origin, "ecko", "--name", "web")).toEqual({
      code: 2,
      stdout: "",
      stderr:
        'fairlead: "web" has no tool "ecko"; did you mean "echo"?\n' +
        '  next: to list its tools, replace "call" by "tools" and leave out the tool\n',
    });
  });
});

describe("the settings' lists hold for what is typed", () => {
  test.each([
    [
      { mcp: { allowed: ["other"] } },
      /^fairlead: "typed" is not listed in mcp\.allowed in .*\n {2}next: Add "typed" to mcp\.allowed/,
    ],
    [{ mcp: { excluded: ["typed"] } }, /^fairlead: "typed" is excluded by mcp\.excluded in /],
    [
      { fairlead: { permissions: { denyTools: ["echo"] } } },
      /^fairlead: typed\.echo denied: fairlead\.permissions\.denyTools in .*settings\.json:\d+ denies it\n/,
    ],
  ])("%j", async (settings, message) => {
    await using here = await machine({ "etc/settings.json": settings });
    const { code, stdout, stderr } = await here.run("call", "--stdio", line, "--name", "typed", "echo", "text=1");
    expect([code, stdout]).toEqual([6, ""]);
    expect(stderr).toMatch(message);
  });
});

describe("--persist", () => {
  test("writes it into the user's settings, and says how to take it out", async () => {
    await using here = await machine({ [projectFile]: "{}" });
    const words = ["--stdio", line, "--name", "kept", "-e", "TOKEN=abc", "--persist"];
    const { code, stdout, stderr } = await here.runWith(trusted, "call", ...words, "echo", "text=1");
    expect([code, stdout]).toEqual([0, "1\n"]);
    expect(stderr).toBe(
      `added "kept" to ${join(here.path, userFile)} (user)\n` +
        "warning: env.TOKEN looks like a secret: store it with fairlead secret set TOKEN and write ${secret:TOKEN} instead\n" +
        "undo: fairlead mcp remove -s user kept\n",
    );
    expect(JSON.parse(await here.read(userFile))).toEqual({
      mcpServers: { kept: { command, args, env: { TOKEN: "abc" } } },
    });
    expect(await here.read(projectFile)).toBe("{}");
    expect(await here.run("call", "kept.echo", "text=2")).toEqual({ code: 0, stdout: "2\n", stderr: "" });
    expect(await here.runWith(trusted, "call", ...words, "echo", "text=3")).toEqual({
      code: 0,
      stdout: "3\n",
      stderr: '"kept" is already in your settings with the same entry\n',
    });
    const other = await here.run("call", ...words, "-e", "OTHER=1", "echo", "text=1");
    expect([other.code, other.stderr]).toEqual([
      2,
      'fairlead: the server name "kept" is already in use: choose another --name, or use that server by its name\n  next: fairlead call --help\n',
    ]);
    expect((await here.run("mcp", "remove", "-s", "user", "kept")).code).toBe(0);
    expect(JSON.parse(await here.read(userFile))).toEqual({ mcpServers: {} });
  });

  test("writes nothing before the server and its tool are there, and then the command can be corrected", async () => {
    await using here = await machine();
    const typed = ["--persist", "--name", "kept", "--stdio"];
    const endings = [
      await here.run("call", ...typed, "no-such-program-here x", "echo"),
      await here.run("tools", ...typed, "no-such-program-here x"),
      await here.run("read", ...typed, "no-such-program-here x", "demo://about"),
      await here.run("prompt", ...typed, "no-such-program-here x", "teach"),
      await here.run("call", ...typed, line, "ecko"),
    ];
    expect(endings.map(({ code }) => code)).toEqual([4, 4, 4, 4, 2]);
    await expect(readFile(join(here.path, userFile))).rejects.toMatchObject({ code: "ENOENT" });
    expect((await here.run("call", ...typed, line, "echo", "text=1")).code).toBe(0);
    expect(JSON.parse(await here.read(userFile))).toEqual({ mcpServers: { kept: { command, args } } });
  });

  test("is kept by a list of its tools, too", async () => {
    await using here = await machine();
    expect((await here.run("tools", "--persist", "--name", "kept", "--stdio", line)).code).toBe(0);
    expect(JSON.parse(await here.read(userFile))).toEqual({ mcpServers: { kept: { command, args } } });
  });

  test.each(["60000", "999999999"])("keeps nothing of --timeout %s, which is the call's", async (timeout) => {
    await using here = await machine();
    const words = ["--persist", "--name", "kept", "--stdio", line, "--timeout", timeout];
    expect((await here.run("call", ...words, "echo", "text=1")).code).toBe(0);
    expect(JSON.parse(await here.read(userFile))).toEqual({ mcpServers: { kept: { command, args } } });
  });

  test("warns of a password in an address", async () => {
    await using web = await webServer(behaves);
    await using here = await machine();
    const address = web.origin.replace("://", "://ada:enigma@");
    const { code, stderr } = await here.run("call", address, "echo", "text=1", "--persist", "--name", "web");
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        `added "web" to ${join(here.path, userFile)} (user)\n` +
        "warning: url (its password) looks like a secret: store it with fairlead secret set PASSWORD and write ${secret:PASSWORD} instead\n" +
        "undo: fairlead mcp remove -s user web\n",
    });
  });

  test("writes nothing when the command line makes no sense", async () => {
    await using here = await machine();
    expect((await here.run("call", "--persist", "--stdio", line)).code).toBe(2);
    expect((await here.run("call", "--persist", "--stdio", "node 'unclosed", "echo")).code).toBe(2);
    expect((await here.run("call", "--persist", "https://$UNSET_HERE/mcp", "echo")).code).toBe(3);
    await expect(readFile(join(here.path, userFile))).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("mistakes", () => {
  const next = "\n  next: fairlead call --help";
  test.each([
    [
      ["https://example.com/mcp"],
      'the tool\'s name is missing\n  next: to list its tools, replace "call" by "tools" and leave out the tool',
    ],
    [
      ["--stdio", "x"],
      'the tool\'s name is missing\n  next: to list its tools, replace "call" by "tools" and leave out the tool',
    ],
    [["https://example.com/mcp", "--stdio", "x", "t"], `a URL and --stdio both name a server: give only one${next}`],
    [
      ["--stdio", "https://example.com", "t"],
      `--stdio takes a command, not the URL "https://example.com": write the URL without --stdio${next}`,
    ],
    [["--stdio", "a | b", "t"], `"a | b" is not a valid command line: character 3, "|" needs a shell${next}`],
    [["--stdio", "x", "-H", "A: b", "t"], `-H works only with a URL; for a command use -e NAME=VALUE${next}`],
    [["https://example.com", "-e", "A=b", "t"], `-e works only with a command; for a URL use -H 'Name: value'${next}`],
    [["demo.greet", "name=Ada", "-e", "A=b"], `--env works only with a URL or --stdio COMMAND${next}`],
    [["demo.greet", "name=Ada", "--persist"], `--persist works only with a URL or --stdio COMMAND${next}`],
    [["--stdio", "x", "--server", "a", "--tool", "b"], "--server and --tool work only with servers in the settings"],
  ])("%j", async (argv, message) => {
    await using here = await machine();
    const { code, stdout, stderr } = await here.run("call", ...argv);
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: `fairlead: ${message}\n` });
  });
});
