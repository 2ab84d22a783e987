import { stdioServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { commandLine } from "../../support/command-line.ts";
import { entries, machine, projectFile, userFile } from "../../support/machine.ts";

describe("what is written", () => {
  const cases: readonly (readonly [what: string, argv: readonly string[], servers: object])[] = [
    [
      "all words after a command belong to the server",
      ["db", "docker", "run", "-i", "-e", "TOKEN", "--trust", "--json", "img"],
      { db: { command: "docker", args: ["run", "-i", "-e", "TOKEN", "--trust", "--json", "img"] } },
    ],
    [
      "-- before the server's words is accepted",
      ["a", "node", "--", "--x", "--"],
      { a: { command: "node", args: ["--x", "--"] } },
    ],
    ["-- before the command too", ["a", "--", "node", "-e", "1"], { a: { command: "node", args: ["-e", "1"] } }],
    ["-- before the name too", ["--", "-odd", "node", "-v"], { "-odd": { command: "node", args: ["-v"] } }],
    ["a name after -- is no option of ours", ["--", "-e", "node", "-v"], { "-e": { command: "node", args: ["-v"] } }],
    ["a later -- is the server's", ["a", "npx", "pkg", "--", "x"], { a: { command: "npx", args: ["pkg", "--", "x"] } }],
    ["a command without words has no args", ["a", "server"], { a: { command: "server" } }],
    [
      "a quoted command line is taken apart",
      ["a", `npx -y "a b" '$x' $HOME`],
      { a: { command: "npx", args: ["-y", "a b", "$$x", "$HOME"] } },
    ],
    ["and may be followed by more words", ["a", "npx -y", "pkg"], { a: { command: "npx", args: ["-y", "pkg"] } }],
    [
      "-e keeps all that follows the first =, an empty value too; a name alone is a reference",
      ["-e", "A=b=c==", "-e", "EMPTY=", "-e", "HOME", "a", "x"],
      { a: { command: "x", env: { A: "b=c==", EMPTY: "", HOME: "${HOME}" } } },
    ],
    ["a bare URL has no type", ["a", "https://example.com/mcp"], { a: { url: "https://example.com/mcp" } }],
    [
      "options may follow a URL",
      ["a", "https://example.com/sse", "-t", "sse", "-H", "X-A: b: c", "-H", "Y:z"],
      { a: { url: "https://example.com/sse", type: "sse", headers: { "X-A": "b: c", Y: "z" } } },
    ],
    ["a URL with a variable", ["a", "https://$HOME/mcp"], { a: { url: "https://$HOME/mcp" } }],
    [
      "every other option",
      [
        "--timeout",
        "5000",
        "--trust",
        "--description",
        "d",
        "--include-tools",
        "a, b",
        "--exclude-tools",
        "c(x,y),d",
        "--cwd",
        "w",
        "s",
        "x",
      ],
      {
        s: {
          command: "x",
          cwd: "w",
          timeout: 5000,
          trust: true,
          description: "d",
          includeTools: ["a", "b"],
          excludeTools: ["c(x,y)", "d"],
        },
      },
    ],
    ["a JSON snippet", ["a", '{"command": "x", "args": ["y"],}'], { a: { command: "x", args: ["y"] } }],
    [
      "a snippet with options",
      ["a", '{"command": "x", "env": {"A": "1"}}', "-e", "B=2", "--trust"],
      { a: { command: "x", env: { A: "1", B: "2" }, trust: true } },
    ],
    [
      "a whole settings snippet, without a name",
      ['{"mcpServers": {"a": {"command": "x"}, "b": {"url": "https://b.example"}}}'],
      { a: { command: "x" }, b: { url: "https://b.example" } },
    ],
    ["a snippet without its braces", ['"a": {"command": "x"}'], { a: { command: "x" } }],
    [
      "a name for the only server of a snippet",
      ["mine", '{"mcpServers": {"a": {"command": "x"}}}'],
      { mine: { command: "x" } },
    ],
    [
      "a name picks one server of several",
      ["b", '{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}'],
      { b: { command: "y" } },
    ],
    ["no name is special", ["__proto__", "x"], Object.fromEntries([["__proto__", { command: "x" }]])],
  ];
  test.each(cases)("%s", async (_what, argv, servers) => {
    await using here = await machine();
    expect(await here.run("mcp", "add", ...argv)).toMatchObject({ code: 0 });
    const written = await entries(here, projectFile);
    expect(JSON.stringify(written)).toBe(JSON.stringify(servers));
  });

  test("a program whose path has spaces in it is not taken apart", async () => {
    await using here = await machine({ "project/my server": "" });
    await here.run("mcp", "add", "a", "./my server", "x");
    expect(await entries(here, projectFile)).toEqual({ a: { command: "./my server", args: ["x"] } });
  });

  test("comments, unknown keys and formatting survive adding and removing, byte for byte", async () => {
    const before = `\uFEFF{\r\n\t// mine\r\n\t"theme": "dark", /* odd */ "mcpServers": {\r\n\t\t"old": { "command": "x", "weird": [1,2 , 3] }, // keep\r\n\t},\r\n}\r\n`;
    await using here = await machine({ [userFile]: before });
    expect(await here.run("mcp", "add", "--no-test", "-s", "user", "new", "node")).toMatchObject({ code: 0 });
    const between = await here.read(userFile);
    expect(between).toContain('"weird": [1,2 , 3] }, // keep\r\n');
    expect(between).toMatch(/"new"/);
    expect(await here.run("mcp", "remove", "new")).toMatchObject({ code: 0 });
    expect(await here.read(userFile)).toBe(before);
  });
});

describe("what is refused, with exit code 2 and nothing written", () => {
  const cases: readonly (readonly [argv: readonly string[], message: RegExp])[] = [
    [["a"], /"a" has no command, URL or JSON snippet after it/],
    [[], /missing required argument/],
    [["https://example.com/mcp"], /the server's name is missing before/],
    [["a", "https://example.com/mcp", "more"], /too many arguments/],
    [["a", "ws://example.com"], /https:\/\/ or http:\/\//],
    [["-t", "http", "a", "node"], /needs a URL/],
    [["a", "https://example.com", "-t", "stdio"], /needs a command/],
    [["-t", "ftp", "a", "x"], /Allowed choices are stdio, sse, http/],
    [["-s", "global", "a", "x"], /Allowed choices are user, project/],
    [["a", "https://example.com", "-e", "A=b"], /-e works only with a command/],
    [["a", "https://example.com", "--cwd", "x"], /--cwd works only with a command/],
    [["-H", "A: b", "a", "node"], /-H works only with a URL/],
    [["a", "https://example.com", "-H", "novalue"], /"Name: value"/],
    [["-e", "=x", "a", "node"], /no name before the "="/],
    [["-e", "A B=c", "a", "node"], /the variable name "A B" contains spaces/],
    [["--timeout", "soon", "a", "x"], /--timeout must be a time such as 500ms, 10s or 2m, not "soon"/],
    [["--timeout", "0s", "a", "x"], /--timeout must be more than 0, not "0s"/],
    [["a", "ls | rm -rf x"], /needs a shell/],
    [["a", "ls $(whoami) x"], /would run another command/],
    [["a", '{"command": }'], /line 1, column 13/],
    [['{"command": "x"}'], /has no server name/],
    [['{"command": "x"}', "a"], /the server's name goes before the snippet/],
    [["a", "{}"], /the snippet has no server/],
    [["c", '{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}'], /only "a", "b"/],
    [["", "x"], /is not a valid server name/],
    [["a\u202Eb", "x"], /is not a valid server name/],
    [["--tust", "a", "x"], /did you mean --trust\?/],
  ];
  test.each(cases)("%j", async (argv, message) => {
    await using here = await machine({ [projectFile]: "{}" });
    const { code, stderr } = await here.run("mcp", "add", ...argv);
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/next: fairlead mcp add --help/);
    expect(code).toBe(2);
    expect(await here.read(projectFile)).toBe("{}");
  });

  test("an entry that could never work is a mistake in the settings: exit code 3", async () => {
    await using here = await machine({ [projectFile]: "{}" });
    const both = await here.run("mcp", "add", "a", '{"command": "x", "url": "https://example.com"}');
    const wrong = await here.run("mcp", "add", "a", '{"command": "x", "args": "y"}');
    expect([both.code, wrong.code]).toEqual([3, 3]);
    expect(both.stderr).toMatch(/command and url/);
    expect(wrong.stderr).toMatch(/"args" must be a list/);
    expect(await here.read(projectFile)).toBe("{}");
  });

  test("a file with a syntax error is named with line and column, and never written to", async () => {
    await using here = await machine({ [projectFile]: '{\n  "mcpServers": [}\n' });
    const { code, stderr } = await here.run("mcp", "add", "a", "x");
    expect(code).toBe(3);
    expect(stderr).toMatch(/settings\.json:2:\d+/);
    expect(await here.read(projectFile)).toBe('{\n  "mcpServers": [}\n');
  });

  test("an existing name needs --replace without a terminal to ask on", async () => {
    await using here = await machine({ [projectFile]: { mcpServers: { a: { command: "old" } } } });
    const refused = await here.run("mcp", "add", "a", "new");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/already in .*"a"[\s\S]*--replace/);
    expect(await entries(here, projectFile)).toEqual({ a: { command: "old" } });
    expect(await here.run("mcp", "add", "--replace", "a", "new")).toMatchObject({ code: 0 });
    expect(await entries(here, projectFile)).toEqual({ a: { command: "new" } });
  });

  test("of a snippet with a taken name, none is written", async () => {
    await using here = await machine({ [projectFile]: { mcpServers: { b: { command: "old" } } } });
    const snippet = '{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}';
    expect(await here.run("mcp", "add", snippet)).toMatchObject({ code: 2 });
    expect(await entries(here, projectFile)).toEqual({ b: { command: "old" } });
  });
});

describe("where it is written", () => {
  test("the project by default, the user settings with -s user", async () => {
    await using here = await machine();
    await here.run("mcp", "add", "a", "x");
    await here.run("mcp", "add", "-s", "user", "b", "x");
    expect([await entries(here, projectFile), await entries(here, userFile)]).toEqual([
      { a: { command: "x" } },
      { b: { command: "x" } },
    ]);
  });

  test("in the home folder there is no project: the user settings, and it is said", async () => {
    await using here = await machine();
    const { code, stderr } = await here.runWith({ cwd: here.home }, "mcp", "add", "a", "x");
    expect(code).toBe(0);
    expect(stderr).toMatch(/no project here/);
    expect(await entries(here, userFile)).toEqual({ a: { command: "x" } });
    expect(await here.runWith({ cwd: here.home }, "mcp", "add", "-s", "project", "b", "x")).toMatchObject({ code: 2 });
  });
});

describe("what is said", () => {
  test("options of ours among a server's words are pointed out", async () => {
    await using here = await machine();
    const { stderr } = await here.run("mcp", "add", "a", "node", "--trust", "-e", "x", "--env=y");
    expect(stderr).toMatch(/note: --trust, -e, --env passed to the server/);
  });

  test("unset variables, unknown keys, secrets written out and unpinned packages", async () => {
    await using here = await machine();
    const snippet =
      '{"command": "npx", "args": ["-y", "pkg"], "env": {"API_TOKEN": "canary-4711", "B": "$NOT_SET"}, "comand": 1}';
    const { code, stdout, stderr } = await here.run("mcp", "add", "-s", "user", "a", snippet);
    expect(code).toBe(0);
    expect(stderr).toMatch(/NOT_SET, which is not set/);
    expect(stderr).toMatch(/"comand" is not a known key.*[\s\S]*Did you mean "command"/);
    expect(stderr).toMatch(/env\.API_TOKEN looks like a secret.*fairlead secret set API_TOKEN.*\$\{secret:API_TOKEN\}/);
    expect(stderr).toMatch(/downloads and runs code: pkg from npm[\s\S]*unpinned/);
    expect(stdout + stderr).not.toContain("canary-4711");
  });

  test("a stronger entry of the same name", async () => {
    await using here = await machine({ "etc/settings.json": { mcpServers: { a: { command: "system" } } } });
    expect((await here.run("mcp", "add", "-s", "user", "a", "x")).stderr).toMatch(
      /another entry with the same name .*etc\/settings\.json:3:5/,
    );
  });

  test("an untrusted folder's entry of the same name is not stronger", async () => {
    await using here = await machine({ [projectFile]: { mcpServers: { a: { command: "theirs" } } } });
    const { stdout, stderr } = await here.run("mcp", "add", "-s", "user", "a", "mine");
    expect(stdout).toMatch(/command +mine\n/);
    expect(stderr).not.toMatch(/another entry/);
  });

  test("everything that was written", async () => {
    await using here = await machine();
    const tools = ["--include-tools", "a,b", "--exclude-tools", "c"];
    const options = ["-s", "user", "-t", "sse", "--trust", "--timeout", "5000", "--description", "what for", ...tools];
    const { stdout } = await here.run("mcp", "add", ...options, "web", "https://example.com/sse");
    expect(stdout).toBe(`added "web" in ${here.home}/.gemini/settings.json (user)
  transport     sse
  url           https://example.com/sse
  timeout       5000 ms
  includeTools  a, b
  excludeTools  c
  trust         true: in a trusted folder, the server's tools run without confirmation
  description   what for
`);
  });

  test("whether the new server can be connected, and what to do next", async () => {
    await using here = await machine();
    const works = await here.run("mcp", "add", "-s", "user", "my server", commandLine(stdioServer("counted")));
    expect(works.stdout).toMatch(/^"my server" is connected.*$/m);
    expect(works.stderr).toMatch(/^next: fairlead tools 'my server'$/m);
    const fails = await here.run("mcp", "add", "-s", "user", "gone", "no-such-program-here");
    expect(fails.code).toBe(0);
    expect(fails.stderr).toMatch(
      /^warning: "gone" was added, but Fairlead cannot connect to it: .*no-such-program-here.*\n {2}next: .+\nto test again: fairlead mcp test gone$/m,
    );
  });

  test("with --json, one document", async () => {
    await using here = await machine();
    const { stdout } = await here.run("mcp", "add", "--json", "a", "node", "x.js");
    expect(JSON.parse(stdout)).toEqual({
      schemaVersion: 1,
      servers: [
        {
          name: "a",
          scope: "workspace",
          file: `${here.project}/.gemini/settings.json`,
          replaced: false,
          transport: "stdio",
          sandbox: "off",
          approved: true,
          folderTrusted: false,
          problems: [],
          notes: [],
          undo: "fairlead mcp remove -s project a",
        },
      ],
    });
  });

  test("an error with --json is a document too, unless --json was the server's", async () => {
    await using here = await machine({ [projectFile]: { mcpServers: { a: { command: "old" } } } });
    const ours = await here.run("mcp", "add", "--json", "a", "x");
    expect(JSON.parse(ours.stdout)).toMatchObject({ schemaVersion: 1, error: { code: "usage" } });
    expect(await here.run("mcp", "add", "a", "x", "--json", "-q")).toMatchObject({ code: 2, stdout: "" });
  });
});
