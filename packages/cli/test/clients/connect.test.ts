import { chmod, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { connectMachine, textOf } from "../support/connected.ts";
import { openTerminalHere } from "../support/terminal-here.ts";

const [cursorFile, claudeFile, codexFile] = ["home/.cursor/mcp.json", "home/.claude.json", "home/.codex/config.toml"];

describe("fairlead connect", () => {
  test("writes one entry, keeps the rest, and disconnect restores every byte", async () => {
    const text = '{\r\n\t// mine\r\n\t"mcpServers": {}\r\n}';
    await using here = await connectMachine({ [cursorFile]: text });
    const { code, stderr } = await here.fairlead("connect", "cursor", "--yes");
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: `Cursor: ${here.path}/${cursorFile}
    {
        // mine
  -     "mcpServers": {}
  +     "mcpServers": {
  +         "fairlead": {
  +             "command": "${process.execPath}",
  +             "args": [
  +                 "${here.entryFile}",
  +                 "serve",
  +                 "--client",
  +                 "cursor"
  +             ]
  +         }
  +     }
    }
connected: Cursor (${here.path}/${cursorFile}); restart the program to load the change
Cursor asks you before a call, and Fairlead asks too: without a rule, both questions appear in Cursor
  to allow all tools of all servers: fairlead policy allow --client cursor '*.*'
undo: fairlead disconnect cursor
`,
    });
    expect(await textOf(here, cursorFile)).toContain(`\t\t\t\t"${here.entryFile}",\r\n`);
    const undone = await here.fairlead("disconnect", "cursor", "--yes");
    expect(undone.code).toBe(0);
    expect(await textOf(here, cursorFile)).toBe(text);
  });

  test("without a terminal and --yes it shows the difference, writes nothing and says what to type", async () => {
    await using here = await connectMachine({ [codexFile]: 'model = "o3"\n' });
    const { code, stderr } = await here.fairlead("connect", "codex");
    expect(code).toBe(2);
    expect(stderr).toContain("  + [mcp_servers.fairlead]\n");
    expect(stderr).toContain("no terminal to ask on\n  next: fairlead connect codex --yes\n");
    expect(await textOf(here, codexFile)).toBe('model = "o3"\n');
    expect(await readdir(here.home)).toEqual([".codex"]);
  });

  test("says what will be asked, and the rule that helps; with --quiet it and disconnect say nothing", async () => {
    await using here = await connectMachine({ [cursorFile]: "{}" });
    expect((await here.fairlead("connect", "cursor", "--yes")).stderr).toContain(
      "to allow all tools of all servers: fairlead policy allow --client cursor '*.*'\n",
    );
    const silent = { code: 0, stdout: "", stderr: "" };
    expect(await here.fairlead("disconnect", "cursor", "--yes", "--quiet")).toEqual(silent);
    expect(await here.fairlead("connect", "cursor", "--yes", "--quiet")).toEqual(silent);
  });

  test("on a terminal Enter means no, and y means yes", async () => {
    await using here = await connectMachine({ [cursorFile]: "{}" });
    for (const [answer, said] of [
      ["\r", /nothing was written/],
      ["y\r", /connected: Cursor/],
    ] as const) {
      await using terminal = openTerminalHere(here, "connect", "cursor");
      await terminal.until(/Write this\? \[y\/N\]/);
      terminal.type(answer);
      await terminal.until(said);
      if (answer === "y\r") {
        await terminal.until(/Write this rule for Cursor/);
        terminal.type("\r");
      }
      expect(await terminal.exitCode).toBe(0);
      expect((await textOf(here, cursorFile))?.includes("fairlead")).toBe(answer === "y\r");
    }
  });

  test("a file that was not there is removed again, with the folders that were made for it", async () => {
    await using here = await connectMachine();
    const { code, stdout } = await here.fairlead("connect", "opencode", "windsurf", "--yes", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      schemaVersion: 1,
      clients: [
        { client: "opencode", action: "written", entry: { type: "local", enabled: true } },
        { client: "windsurf", action: "written", file: join(here.home, ".codeium/windsurf/mcp_config.json") },
      ],
      undo: ["fairlead disconnect opencode", "fairlead disconnect windsurf"],
    });
    for (const client of ["opencode", "windsurf"])
      expect((await here.fairlead("disconnect", client, "--yes", "--quiet")).code).toBe(0);
    expect(await readdir(here.home)).toEqual([".fairlead"]);
  });

  test("without names it offers what is installed: a folder, a file, a program", async () => {
    await using here = await connectMachine({ [claudeFile]: "{}", "home/.config/zed/themes/a": "" });
    await here.write("installed/codex", "");
    await chmod(join(here.path, "installed/codex"), 0o755);
    const { stdout } = await here.fairlead("connect", "--json", "--yes");
    const { clients } = JSON.parse(stdout) as { clients: { client: string }[] };
    expect(clients.map(({ client }) => client)).toEqual(["claude-code", "codex", "zed"]);
  });

  test("where nothing is installed it says so", async () => {
    await using here = await connectMachine();
    expect(await here.fairlead("connect")).toMatchObject({
      code: 2,
      stderr: "fairlead: no MCP client found on this machine\n  next: name one: fairlead connect claude-code\n",
    });
  });

  test("a second time nothing is written; after Fairlead has moved, the entry follows, and disconnect still restores", async () => {
    await using here = await connectMachine({ [claudeFile]: '{"numStartups": 3}' });
    await here.fairlead("connect", "claude-code", "--yes");
    expect(await here.fairlead("connect", "claude-code")).toMatchObject({
      code: 0,
      stderr: `Claude Code is already connected: ${here.path}/${claudeFile}\n`,
    });
    const moved = { node: process.execPath, file: join(here.path, "elsewhere/fairlead") };
    const again = await here.runWith({ program: moved }, "connect", "claude-code", "--yes");
    expect(again.stderr).toContain("elsewhere/fairlead");
    await here.fairlead("disconnect", "claude-code", "--yes");
    expect(await textOf(here, claudeFile)).toBe('{"numStartups": 3}');
  });

  test("variables of the clients move their files", async () => {
    await using here = await connectMachine();
    const env = {
      CLAUDE_CONFIG_DIR: join(here.path, "c"),
      CODEX_HOME: join(here.path, "x"),
      XDG_CONFIG_HOME: join(here.path, "g"),
    };
    const { stdout } = await here.runWith(
      { env },
      "connect",
      "claude-code",
      "codex",
      "zed",
      "opencode",
      "--print",
      "--json",
    );
    const { clients } = JSON.parse(stdout) as { clients: { file: string }[] };
    expect(clients.map(({ file }) => file.slice(here.path.length))).toEqual([
      "/c/.claude.json",
      "/x/config.toml",
      "/g/zed/settings.json",
      "/g/opencode/opencode.json",
    ]);
  });

  test("--print prints what to write by hand, and writes nothing", async () => {
    await using here = await connectMachine({ [codexFile]: "broken [" });
    const { code, stdout } = await here.fairlead("connect", "codex", "--print");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `# Codex: ${here.path}/${codexFile}
[mcp_servers.fairlead]
command = "${process.execPath}"
args = ["${here.entryFile}", "serve", "--client", "codex"]
`,
    });
    expect(await textOf(here, codexFile)).toBe("broken [");
  });

  test("of several clients one is refused with its place, and the others are written", async () => {
    await using here = await connectMachine({ [cursorFile]: '{\n  "mcpServers": []\n}', [codexFile]: "" });
    const { code, stderr } = await here.fairlead("connect", "cursor", "codex", "--yes");
    expect(code).toBe(3);
    expect(stderr).toContain(
      `fairlead: ${here.path}/${cursorFile}:2:17: "mcpServers" must be an object; the file was not changed\n  next: Correct ${here.path}/${cursorFile} at line 2, column 17`,
    );
    expect(await textOf(here, codexFile)).toContain("[mcp_servers.fairlead]");
  });

  test("an entry of that name that Fairlead did not write is refused", async () => {
    const text = '{ "mcpServers": { "fairlead": { "command": "mine" } } }';
    await using here = await connectMachine({ [cursorFile]: text });
    expect(await here.fairlead("connect", "cursor", "--yes")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${cursorFile}:1:19: Cursor has another server named "fairlead"`),
    });
    expect(await textOf(here, cursorFile)).toBe(text);
  });

  test("from npm's cache it warns, and --settings and FAIRLEAD_HOME go into the entry", async () => {
    await using here = await connectMachine({ "own.json": "{}" });
    const program = { node: "/usr/bin/node", file: "/home/ada/.npm/_npx/1234/node_modules/.bin/fairlead" };
    const env = { FAIRLEAD_HOME: join(here.path, "state") };
    const settings = join(here.path, "own.json");
    const { stdout } = await here.runWith(
      { program, env },
      "connect",
      "cursor",
      "--print",
      "--json",
      "--settings",
      settings,
    );
    expect(JSON.parse(stdout)).toMatchObject({
      clients: [
        {
          entry: { args: [program.file, "serve", "--client", "cursor", "--settings", settings], env },
          warnings: [expect.stringContaining("install it (docs/install.md)")],
        },
      ],
    });
  });

  test("Fairlead's own settings may hold the entry for Gemini CLI: it is no server of Fairlead", async () => {
    await using here = await connectMachine({
      "home/.gemini/settings.json": '{ "mcpServers": { "a": { "command": "x" } } }',
    });
    await here.fairlead("connect", "gemini", "--yes");
    expect(await textOf(here, "home/.gemini/settings.json")).toContain("--client");
    const { stdout } = await here.fairlead("mcp", "list", "--cached", "--json");
    expect((JSON.parse(stdout) as { servers: { name: string }[] }).servers.map(({ name }) => name)).toEqual(["a"]);
  });
});

describe("fairlead disconnect", () => {
  test("refuses, with the difference, if the file has changed; --force removes only the entry", async () => {
    await using here = await connectMachine({ [cursorFile]: '{\n  "mcpServers": {}\n}\n' });
    await here.fairlead("connect", "cursor", "--yes");
    const changed =
      (await textOf(here, cursorFile))?.replace('{\n  "mcp', '{\n  "API_KEY": "sk-12345678", // new\n  "mcp') ?? "";
    await here.write(cursorFile, changed);
    const refused = await here.fairlead("disconnect", "cursor", "--yes");
    expect(refused).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('\n  +   "API_KEY": "(hidden)", // new\n'),
    });
    expect(refused.stderr).toContain("next: To remove only Fairlead's entry: fairlead disconnect cursor --force");
    expect(await textOf(here, cursorFile)).toBe(changed);
    const { stdout } = await here.fairlead("disconnect", "cursor", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ action: "refused", error: { code: "changed" } });
    expect((await here.fairlead("disconnect", "cursor", "--yes", "--force")).code).toBe(0);
    expect(await textOf(here, cursorFile)).toBe('{\n  "API_KEY": "sk-12345678", // new\n  "mcpServers": {}\n}\n');
    expect(await here.fairlead("disconnect", "cursor", "--yes")).toMatchObject({ code: 2 });
  });

  test("--force leaves Codex's other tables, and what Codex has added", async () => {
    await using here = await connectMachine({ [codexFile]: 'model = "o3"\n' });
    await here.fairlead("connect", "codex", "--yes");
    await here.write(
      codexFile,
      `${await textOf(here, codexFile)}\n[mcp_servers.fairlead.tools.a]\napproval_mode = "x"\n\n[projects."/p"] # mine\ntrust_level = "trusted"\n`,
    );
    expect((await here.fairlead("disconnect", "codex", "--yes")).code).toBe(6);
    expect((await here.fairlead("disconnect", "codex", "--yes", "--force")).code).toBe(0);
    expect(await textOf(here, codexFile)).toBe('model = "o3"\n\n[projects."/p"] # mine\ntrust_level = "trusted"\n');
  });

  test.each([
    [[], /nothing was written/],
    [["--json"], /"action": "declined"/],
  ])("a no to its question changes nothing, and is told: %j", async (words, told) => {
    await using here = await connectMachine({ [cursorFile]: '{\n  "mcpServers": {}\n}\n' });
    await here.fairlead("connect", "cursor", "--yes");
    const before = await textOf(here, cursorFile);
    await using terminal = openTerminalHere(here, "disconnect", "cursor", ...words);
    await terminal.until(/Write this\?/);
    terminal.type("n\r");
    await terminal.until(told);
    expect(await terminal.exitCode).toBe(0);
    expect(await textOf(here, cursorFile)).toBe(before);
  });

  test("without connect there is nothing to undo", async () => {
    await using here = await connectMachine();
    expect(await here.fairlead("disconnect", "zed", "--yes")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Zed is not connected"),
    });
  });

  test("finds the only receipt of a client whose variable has another value now", async () => {
    await using here = await connectMachine();
    const env = { CODEX_HOME: join(here.path, "x") };
    await mkdir(env.CODEX_HOME);
    await here.runWith({ env }, "connect", "codex", "--yes");
    expect((await here.fairlead("disconnect", "codex", "--yes")).code).toBe(0);
    expect(await readdir(env.CODEX_HOME)).toEqual([]);
  });
});

describe("connect --replace", () => {
  const servers = {
    mcpServers: {
      github: { command: "npx", args: ["-y", "gh"], env: { GITHUB_TOKEN: "ghp_0123456789abcdefghij0123456789abcdef" } },
      odd: { type: "carrier-pigeon" },
    },
  };

  test("moves servers and their secrets to Fairlead, leaves the others, and disconnect puts them back", async () => {
    const text = `${JSON.stringify(servers, undefined, 2)}\n`;
    await using here = await connectMachine({ [cursorFile]: text });
    const { code, stderr } = await here.fairlead("connect", "cursor", "--replace", "--yes");
    expect(code).toBe(0);
    expect(stderr).toContain(`  move github to ${here.home}/.gemini/settings.json:\n`);
    expect(stderr).toContain("  odd stays: the server cannot be imported: type is not a transport");
    expect(stderr).not.toContain("ghp_");
    expect(Object.keys((JSON.parse((await textOf(here, cursorFile)) ?? "") as typeof servers).mcpServers)).toEqual([
      "odd",
      "fairlead",
    ]);
    expect(JSON.parse((await textOf(here, "home/.gemini/settings.json")) ?? "")).toEqual({
      mcpServers: { github: { command: "npx", args: ["-y", "gh"], env: { GITHUB_TOKEN: "${secret:GITHUB_TOKEN}" } } },
    });
    const undone = await here.fairlead("disconnect", "cursor", "--yes");
    expect(undone.stderr).toContain(
      "github also stays in Fairlead's settings; to remove it there: fairlead mcp remove -s user github",
    );
    expect(await textOf(here, cursorFile)).toBe(text);
  });

  test("--force puts moved servers back into a file that has changed, in JSON and in TOML", async () => {
    const toml = '# a\n[mcp_servers.files] # b\ncommand = "x"\n\n[mcp_servers.files.env]\nA = "1"\n\n[other]\nc = 1\n';
    await using here = await connectMachine({ [codexFile]: toml });
    await here.fairlead("connect", "codex", "--replace", "--yes");
    await here.write(codexFile, `${await textOf(here, codexFile)}# new\n`);
    await here.fairlead("disconnect", "codex", "--yes", "--force");
    expect(await textOf(here, codexFile)).toBe(
      '# a\n\n[other]\nc = 1\n# new\n\n[mcp_servers.files] # b\ncommand = "x"\n\n[mcp_servers.files.env]\nA = "1"\n',
    );
  });

  test.each([
    [
      "zed",
      "home/.config/zed/settings.json",
      { context_servers: { s: { source: "custom", command: { path: "x", args: ["a"] } } } },
      { command: "x", args: ["a"] },
    ],
    [
      "opencode",
      "home/.config/opencode/opencode.json",
      { mcp: { s: { type: "local", command: ["x", "a"], environment: { K: "{env:K}" } } } },
      { command: "x", args: ["a"], env: { K: "${K}" } },
    ],
  ])("takes %s's own form", async (client, file, content, entry) => {
    await using here = await connectMachine({ [file]: content });
    expect((await here.fairlead("connect", client, "--replace", "--yes")).code).toBe(0);
    expect(JSON.parse((await textOf(here, "home/.gemini/settings.json")) ?? "")).toEqual({ mcpServers: { s: entry } });
  });

  test("is refused for Gemini CLI, which reads the same file", async () => {
    await using here = await connectMachine();
    expect(await here.fairlead("connect", "gemini", "--replace", "--yes")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("read the same settings file"),
    });
  });
});

describe("connect --list and doctor", () => {
  test("send a real request through what was written, and name what does not answer", async () => {
    await using here = await connectMachine({ [cursorFile]: "{}", [claudeFile]: "{" });
    await here.fairlead("connect", "cursor", "codex", "--yes");
    expect((await here.fairlead("connect", "--list")).stdout).toBe(
      `claude-code  cannot be read     ${here.path}/${claudeFile}
codex        connected, 1 tool  ${here.path}/${codexFile}
cursor       connected, 1 tool  ${here.path}/${cursorFile}
`,
    );
    await rm(here.entryFile);
    const { stdout } = await here.fairlead("connect", "--list", "cursor", "zed", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      clients: [
        { client: "cursor", state: "fails", connected: true, transport: "stdio", error: { code: "unreachable" } },
        { client: "zed", state: "absent", connected: false },
      ],
    });
    const doctor = JSON.parse((await here.fairlead("doctor", "--json")).stdout) as {
      findings: { group: string; severity: string; message: string; next?: string }[];
    };
    expect(doctor.findings.filter(({ group }) => group === "clients")).toEqual([
      expect.objectContaining({
        severity: "problem",
        code: "command_not_found",
        next: "fairlead connect cursor",
        message: expect.stringContaining(`${here.entryFile} does not exist`),
      }),
      expect.objectContaining({ severity: "problem", next: "fairlead connect codex" }),
    ]);
  });
});
