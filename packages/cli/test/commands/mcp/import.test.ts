import { describe, expect, test } from "vitest";
import {
  actions,
  codexFile,
  cursorFile,
  importJson,
  isThere,
  projectMcpFile,
  settings,
} from "../../support/imported.ts";
import { machine, userFile } from "../../support/machine.ts";

const everywhere = {
  "home/.config/Claude/claude_desktop_config.json": { mcpServers: { desktop: { command: "npx", args: ["$1"] } } },
  "home/.claude.json": { numStartups: 3, mcpServers: { code: { type: "http", url: "https://example.com/mcp" } } },
  [cursorFile]: { mcpServers: { cursor: { command: "run", env: { KEY: "${env:KEY}" } } } },
  "home/.config/Code/User/mcp.json":
    '{ "servers": { "code-user": { "command": "run", "env": { "K": "${input:k}" } } }, /* ours */ "inputs": [{ "id": "k", "description": "The key" }] }',
  "home/.codeium/windsurf/mcp_config.json": {
    mcpServers: { wind: { serverUrl: "https://example.com/x", disabled: true } },
  },
  [codexFile]: '[mcp_servers.codex]\nurl = "https://example.com/c"\nbearer_token_env_var = "TOKEN"\n',
};

const fromEverywhere = {
  desktop: { command: "npx", args: ["$$1"] },
  code: { url: "https://example.com/mcp", type: "http" },
  cursor: { command: "run", env: { KEY: "${KEY}" } },
  "code-user": { command: "run", env: { K: "${secret:k}" } },
  wind: { url: "https://example.com/x" },
  codex: { url: "https://example.com/c", type: "http", headers: { Authorization: "Bearer ${TOKEN}" } },
};

describe("servers at their usual places", () => {
  test("are shown, and nothing is written", async () => {
    await using host = await machine(everywhere);
    const { code, stdout, stderr } = await host.run("mcp", "import");
    expect(code).toBe(0);
    expect(stdout).toContain(`cursor: add
  from Cursor (${host.home}/.cursor/mcp.json)
    {
      "command": "run",
      "env": {
        "KEY": "\${KEY}"
      }
    }
  - converted: env.KEY: \${env:KEY} becomes \${KEY}
`);
    expect(stdout).toContain(`      next: fairlead secret set k\n`);
    expect(stderr).toBe(`nothing was written; --write adds 6 servers to ${host.home}/.gemini/settings.json\n`);
    expect(await isThere(host, userFile)).toBe(false);
  });

  test("are added with --write, and what was switched off stays off", async () => {
    await using host = await machine(everywhere);
    const { code, stderr } = await host.run("mcp", "import", "--write");
    expect(code).toBe(0);
    expect(stderr).toContain("wrote 6 servers");
    expect(stderr).toContain("undo: fairlead mcp remove -s user desktop\n");
    expect((await host.run("mcp", "import")).stdout).toMatch(/^cursor: already in the settings$/m);
    expect(await settings(host)).toEqual({
      mcpServers: fromEverywhere,
      fairlead: { servers: { wind: { enabled: false } } },
    });
    const list = JSON.parse((await host.run("mcp", "list", "--json")).stdout) as {
      servers: { name: string; status: string }[];
    };
    expect(list.servers.find(({ name }) => name === "wind")?.status).toBe("disabled");
  });

  test("are recognised the second time", async () => {
    await using host = await machine(everywhere);
    await host.run("mcp", "import", "--write");
    const before = await host.read(userFile);
    const document = await importJson(host, "--write");
    expect(document.written).toBe(false);
    expect(new Set(document.servers.map(({ action }) => action))).toEqual(new Set(["same"]));
    expect(await host.read(userFile)).toBe(before);
  });

  test("each undo line takes its server back", async () => {
    await using host = await machine({
      [cursorFile]: { mcpServers: { one: { command: "x" } } },
      [userFile]: '{\n  // mine\n  "a": 1\n}\n',
    });
    const { undo } = await importJson(host, "--write");
    expect(undo).toEqual(["fairlead mcp remove -s user one"]);
    await host.run(...(undo?.[0]?.split(" ").slice(1) ?? []));
    const text = await host.read(userFile);
    expect(text).toContain("// mine");
    expect(text).not.toContain("one");
  });

  test("of no program: it says where it looked", async () => {
    await using host = await machine();
    const { code, stdout } = await host.run("mcp", "import");
    expect(code).toBe(0);
    expect(stdout).toContain(
      `no servers found in\n  Claude Desktop (${host.home}/.config/Claude/claude_desktop_config.json)\n`,
    );
    expect(stdout).toContain(`  VS Code (${host.project}/.vscode/mcp.json)\n`);
  });

  test("--format looks at one program only", async () => {
    await using host = await machine(everywhere);
    const document = await importJson(host, "--format", "codex");
    expect(new Set(document.sources.map(({ program }) => program))).toEqual(new Set(["codex"]));
    expect(actions(document)).toEqual(["codex: add"]);
  });

  test("--no-workspace leaves the workspace's files unread", async () => {
    await using host = await machine({ [projectMcpFile]: { mcpServers: { a: { command: "x" } } } });
    expect((await importJson(host, "--no-workspace")).servers).toEqual([]);
  });
});

test("Claude Code's servers for this project come along, those for others do not", async () => {
  await using host = await machine();
  await host.write("home/.claude.json", {
    projects: {
      [host.project]: { mcpServers: { here: { command: "./run" } } },
      "/elsewhere": { mcpServers: { there: { command: "y" } } },
    },
  });
  const { servers } = await importJson(host);
  expect(servers.map(({ name, entry }) => ({ name, entry }))).toEqual([
    { name: "here", entry: { command: `${host.project}/run` } },
  ]);
});

describe("comments and everything else in the settings stay", () => {
  test("byte for byte", async () => {
    const before = '{\n  // mine\n  "theme": "dark", "mcpServers": {\n    "old": { "command": "x" } // kept\n  }\n}\n';
    await using host = await machine({ [userFile]: before, [cursorFile]: { mcpServers: { fresh: { command: "y" } } } });
    await host.run("mcp", "import", "--write");
    const after = await host.read(userFile);
    for (const part of ["// mine", '"theme": "dark", "mcpServers"', '"old": { "command": "x" }', "// kept"])
      expect(after).toContain(part);
    expect(after).toContain('"fresh"');
  });

  test("a broken settings file is named with its place, and not touched", async () => {
    await using host = await machine({
      [userFile]: '{ "mcpServers": {,} }',
      [cursorFile]: { mcpServers: { a: { command: "y" } } },
    });
    const { code, stderr } = await host.run("mcp", "import", "--write");
    expect(code).toBe(3);
    expect(stderr).toContain("line 1, column 18");
    expect(await host.read(userFile)).toBe('{ "mcpServers": {,} }');
  });
});

describe("a name that is taken", () => {
  const files = {
    [userFile]: { mcpServers: { x: { command: "mine" } } },
    [cursorFile]: { mcpServers: { x: { command: "theirs" } } },
  };

  test("is skipped", async () => {
    await using host = await machine(files);
    expect(actions(await importJson(host, "--write"))).toEqual(["x: exists"]);
    expect(await settings(host)).toEqual(files[userFile]);
  });

  test("is replaced with --replace, and the undo line puts it back", async () => {
    await using host = await machine(files);
    const { undo, ...document } = await importJson(host, "--write", "--replace");
    expect(actions(document)).toEqual(["x: replace"]);
    expect(await settings(host)).toEqual({ mcpServers: { x: { command: "theirs" } } });
    expect(undo).toEqual([`fairlead mcp add --replace -s user x '{"command":"mine"}'`]);
  });

  test("by another program: the second one is offered under a name of its own, and added when asked for", async () => {
    await using host = await machine({
      [cursorFile]: { mcpServers: { x: { command: "one" } } },
      [codexFile]: '[mcp_servers.x]\ncommand = "two"\n',
    });
    expect(actions(await importJson(host, "--write"))).toEqual(["x: add", "x-codex: clash"]);
    expect(await settings(host)).toEqual({ mcpServers: { x: { command: "one" } } });
    expect(actions(await importJson(host, "--write", "--only", "x-codex"))).toEqual(["x: not-chosen", "x-codex: add"]);
    expect(await settings(host)).toEqual({ mcpServers: { x: { command: "one" }, "x-codex": { command: "two" } } });
  });
});

describe("--only", () => {
  test("picks by name", async () => {
    await using host = await machine({
      [cursorFile]: { mcpServers: { a: { command: "x" }, b: { command: "y" }, c: { command: "z" } } },
    });
    expect(actions(await importJson(host, "--write", "--only", "a, c"))).toEqual(["a: add", "b: not-chosen", "c: add"]);
    expect(await settings(host)).toEqual({ mcpServers: { a: { command: "x" }, c: { command: "z" } } });
  });

  test("a name that was not found is an error, and nothing is written", async () => {
    await using host = await machine({ [cursorFile]: { mcpServers: { github: { command: "x" } } } });
    const { code, stderr } = await host.run("mcp", "import", "--write", "--only", "githb");
    expect(code).toBe(2);
    expect(stderr).toContain('found no server "githb"; did you mean "github"?');
    expect(await isThere(host, userFile)).toBe(false);
  });
});

describe("--from", () => {
  test("reads that file only, and tells its program from what is in it", async () => {
    await using host = await machine({
      ...everywhere,
      "project/list.json": { servers: { own: { command: "x", args: ["${userHome}"] } } },
    });
    const document = await importJson(host, "--from", "list.json");
    expect(document.sources).toEqual([
      { program: "vscode", file: `${host.project}/list.json`, state: "read", servers: 1 },
    ]);
    expect(document.servers[0]?.entry).toEqual({ command: "x", args: ["${HOME}"] });
  });

  test("--format decides what the file means", async () => {
    await using host = await machine({
      "project/list.json": { mcpServers: { own: { command: "x", args: ["${A}"] } } },
    });
    const args = async (format: string) =>
      (await importJson(host, "--from", "list.json", "--format", format)).servers[0]?.entry;
    expect(await args("claude-code")).toEqual({ command: "x", args: ["${A}"] });
    expect(await args("claude-desktop")).toEqual({ command: "x", args: ["$${A}"] });
  });

  test.each<{ title: string; files: Record<string, string | object>; argv?: string[]; code: number; words: string }>([
    { title: "absent", files: {}, code: 2, words: "does not exist" },
    {
      title: "of no program",
      files: { "project/list.json": { some: "thing" } },
      code: 2,
      words: "has no known format (claude-desktop, ",
    },
    {
      title: "broken",
      files: { "project/list.json": '{ "servers": [}' },
      argv: ["--format", "vscode"],
      code: 3,
      words: "list.json:1:15:",
    },
    {
      title: "broken TOML",
      files: { "project/list.json": "[x\ny=1" },
      argv: ["--format", "codex"],
      code: 3,
      words: "list.json:1:",
    },
    {
      title: "too large",
      files: { "project/list.json": " ".repeat(17 * 1024 * 1024) },
      argv: ["--format", "vscode"],
      code: 3,
      words: "list.json: ",
    },
    {
      title: "a wrong format",
      files: {},
      argv: ["--format", "emacs"],
      code: 2,
      words: "Allowed choices are claude-desktop",
    },
  ])("a file that is $title is an error", async ({ files, argv = [], code, words }) => {
    await using host = await machine(files);
    const ending = await host.run("mcp", "import", "--from", "list.json", ...argv);
    expect(ending.code).toBe(code);
    expect(ending.stderr).toContain(words);
  });
});

test("a broken file is reported with its place, and the others go on", async () => {
  await using host = await machine({
    [cursorFile]: '{\n "mcpServers": {"a" 1}}',
    [codexFile]: '[mcp_servers.x]\ncommand = "two"\n',
  });
  const { code, stdout, stderr } = await host.run("mcp", "import", "--write");
  expect(code).toBe(0);
  expect(stderr).toContain(`${host.home}/.cursor/mcp.json:2:21: a ":" is missing after the property name; ignored\n`);
  expect(stdout).toContain("x: add\n");
  expect(await settings(host)).toEqual({ mcpServers: { x: { command: "two" } } });
});
