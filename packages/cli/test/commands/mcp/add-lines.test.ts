import { expect, test } from "vitest";
import { type Ending, entries, type Machine, machine, projectFile, userFile } from "../../support/machine.ts";

const project = "/project/.gemini/settings.json";
const user = "/home/.gemini/settings.json";
const untrusted = "The folder is not trusted yet, so Fairlead ignores its settings.\n  next: fairlead trust add\n";

async function add(here: Machine, ...words: readonly string[]): Promise<Ending> {
  const { code, stdout, stderr } = await here.run("mcp", "add", "--no-test", ...words);
  return { code, stdout: stdout.replaceAll(here.path, ""), stderr: stderr.replaceAll(here.path, "") };
}

test("the user sees the entry as read back, notes and warnings, the undo command, and what the project still needs", async () => {
  await using here = await machine({
    [projectFile]: { mcpServers: { old: { command: "o" } } },
    "project/.env": "V=1\n",
    "project/run.sh": "#!/bin/sh\n",
  });
  const runs: readonly (readonly [words: readonly string[], stdout: string, stderr: string])[] = [
    [
      ["new", "run", "x", "--json"],
      `added "new" in ${project} (workspace)\n  command    run\n  arguments  1: x\n             2: --json\n  sandbox    not sandboxed\n`,
      `note: --json passed to the server; options for fairlead must come before NAME
undo: fairlead mcp remove -s project new
${untrusted}`,
    ],
    [
      ["--replace", "old", "run"],
      `replaced "old" in ${project} (workspace)\n  command  run\n  sandbox  not sandboxed\n`,
      `undo: fairlead mcp add --replace --no-approve -s project old '{"command":"o"}'\n${untrusted}`,
    ],
    [
      ["-s", "user", "old", "https://example.com/mcp"],
      `added "old" in ${user} (user)\n  url  https://example.com/mcp\n`,
      "undo: fairlead mcp remove -s user old\n",
    ],
    [
      ["v", "run", "$V"],
      `added "v" in ${project} (workspace)\n  command    run\n  arguments  1: $V\n  sandbox    not sandboxed\n`,
      `undo: fairlead mcp remove -s project v
"v" is not approved yet, because the workspace's .env file sets variables for it: V
${untrusted}`,
    ],
    [
      ["w", "./run.sh"],
      `added "w" in ${project} (workspace)\n  command      ./run.sh\n  resolves to  /project/run.sh\n  sandbox      not sandboxed\n`,
      `note: runs /project/run.sh, a file of this folder (SHA-256 a8076d3d28d2…)
undo: fairlead mcp remove -s project w
${untrusted}`,
    ],
    [
      ["-s", "user", "npx", "npx", "-y", "pkg"],
      `added "npx" in ${user} (user)\n  command    npx\n  arguments  1: -y\n             2: pkg\n  sandbox    not sandboxed\n`,
      `note: downloads and runs code: pkg from npm
note: unpinned: a later start may run another version; to write the exact one: fairlead mcp pin npx
undo: fairlead mcp remove -s user npx
`,
    ],
    [
      [
        "-s",
        "user",
        "--transport=sse",
        "--timeout=2s",
        "--description=text",
        "--trust",
        "--include-tools=a,b",
        "--exclude-tools=c",
        "--header=A: Bearer sk-canary-4711",
        "web",
        "https://example.com/sse",
      ],
      `added "web" in ${user} (user)
  transport     sse
  url           https://example.com/sse
  headers       A: (hidden)
  timeout       2000 ms
  includeTools  a, b
  excludeTools  c
  trust         true: in a trusted folder, the server's tools run without confirmation
  description   text
`,
      `warning: headers.A looks like a secret: store it with fairlead secret set A and write \${secret:A} instead
undo: fairlead mcp remove -s user web
`,
    ],
    [
      ["--no-approve", "later", "run"],
      `added "later" in ${project} (workspace)\n  command  run\n  sandbox  not sandboxed\n`,
      `undo: fairlead mcp remove -s project later\n${untrusted}`,
    ],
  ];
  for (const [words, stdout, stderr] of runs)
    expect(await add(here, ...words), words.join(" ")).toEqual({ code: 0, stdout, stderr });
  expect(await entries(here, userFile)).toEqual({
    old: { url: "https://example.com/mcp" },
    npx: { command: "npx", args: ["-y", "pkg"] },
    web: {
      url: "https://example.com/sse",
      type: "sse",
      headers: { A: "Bearer sk-canary-4711" },
      timeout: 2000,
      trust: true,
      description: "text",
      includeTools: ["a", "b"],
      excludeTools: ["c"],
    },
  });
});

test("in a trusted folder the user's new server is approved, unless the user or the .env file prevents it", async () => {
  await using here = await machine({ [projectFile]: {}, "project/.env": "V=1\n" });
  await here.run("trust", "add", "--yes");
  expect((await add(here, "now", "run")).stderr).toBe("undo: fairlead mcp remove -s project now\n");
  expect((await add(here, "--no-approve", "later", "run")).stderr).toBe(
    "undo: fairlead mcp remove -s project later\n  next: fairlead trust add\n",
  );
  expect((await add(here, "-e", "B=$V", "env", "run")).stderr).toBe(
    `undo: fairlead mcp remove -s project env
"env" is not approved yet, because the workspace's .env file sets variables for it: V
  next: fairlead trust add
`,
  );
  expect((await add(here, "-C", here.project, "--no-approve", "there", "run")).stderr).toBe(
    "undo: fairlead mcp remove -C /project -s project there\n  next: fairlead trust add /project\n",
  );
  const approved = JSON.parse((await here.run("trust", "list", "--json")).stdout).approvals[0].servers;
  expect(approved.map(({ name }: { readonly name: string }) => name)).toEqual(["now"]);
});

test("the JSON document has each added server with its notes, its problems and its undo command", async () => {
  await using here = await machine({ [projectFile]: { mcpServers: { both: { command: "theirs" } } } });
  const documentOf = async (...words: readonly string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await add(here, "--json", ...words);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return JSON.parse(stdout).servers;
  };
  const ofProject = { scope: "workspace", file: project, replaced: false, problems: [], notes: [] };
  const snippet = '{"mcpServers": {"a": {"command": "x"}, "b": {"url": "https://b.example", "typo": 1}}}';
  expect(await documentOf(snippet)).toEqual([
    {
      ...ofProject,
      name: "a",
      transport: "stdio",
      sandbox: "off",
      approved: true,
      folderTrusted: false,
      undo: "fairlead mcp remove -s project a",
    },
    {
      ...ofProject,
      name: "b",
      transport: "http",
      approved: true,
      folderTrusted: false,
      problems: [expect.objectContaining({ severity: "warning", serverName: "b" })],
      undo: "fairlead mcp remove -s project b",
    },
  ]);
  expect(await documentOf("--replace", "-s", "user", "-e", "API_KEY=sk-canary-4711", "n", "npx", "pkg")).toEqual([
    {
      name: "n",
      scope: "user",
      file: user,
      replaced: false,
      transport: "stdio",
      sandbox: "off",
      problems: [],
      notes: [
        "downloads and runs code: pkg from npm",
        "unpinned: a later start may run another version; to write the exact one: fairlead mcp pin n",
        "env.API_KEY looks like a secret: store it with fairlead secret set API_KEY and write ${secret:API_KEY} instead",
      ],
      undo: "fairlead mcp remove -s user n",
    },
  ]);
  // The output is no terminal, so the replaced entry with its literal value is not printed.
  expect(await documentOf("--replace", "-s", "user", "n", "run")).toEqual([
    {
      name: "n",
      scope: "user",
      file: user,
      replaced: true,
      transport: "stdio",
      sandbox: "off",
      problems: [],
      notes: [],
    },
  ]);
  await here.run("trust", "add", "--yes");
  const both = { name: "both", scope: "user", file: user, replaced: false, transport: "stdio" };
  const undo = "fairlead mcp remove -s user both";
  const shadowedBy = { scope: "workspace", file: project, line: 3, column: 5 };
  expect(await documentOf("-s", "user", "both", "mine")).toEqual([
    { ...both, shadowedBy, problems: [], notes: [], undo },
  ]);
  expect(await add(here, "--replace", "-s", "user", "both", "mine")).toEqual({
    code: 0,
    stdout: `replaced "both" in ${user} (user)\n`,
    stderr: `note: Fairlead uses another entry with the same name instead: ${project}:3:5 (workspace)
undo: fairlead mcp add --replace -s user both '{"command":"mine"}'
`,
  });
});

test("the user is told where no entry can be written, and nothing is written", async () => {
  await using here = await machine({ [projectFile]: { mcpServers: { one: { command: "o" }, two: { command: "o" } } } });
  const before = await here.read(projectFile);
  const snippet = '{"one": {"command": "x"}, "new": {"command": "x"}, "two": {"command": "x"}}';
  expect(await add(here, snippet)).toEqual({
    code: 2,
    stdout: "",
    stderr: `fairlead: already in ${project}: "one", "two"; nothing was changed
  next: add --replace before the name, or choose another name
`,
  });
  expect(await add(here, "n", '{"command": 7}')).toEqual({
    code: 3,
    stdout: "",
    stderr: 'fairlead: "n" was not added: "command" must be text, not a number\n  next: fairlead settings schema\n',
  });
  expect(await add(here, "-C", here.home, "-s", "project", "n", "run")).toEqual({
    code: 2,
    stdout: "",
    stderr: `fairlead: there is no project: this is the home folder, or --no-workspace is set
  next: add -s user, or -C DIR for a project in another folder
`,
  });
  expect(await here.read(projectFile)).toBe(before);
  expect(await add(here, "-C", here.home, "n", "run")).toEqual({
    code: 0,
    stdout: `added "n" in ${user} (user)\n  command  run\n  sandbox  not sandboxed\n`,
    stderr: `note: there is no project here, so Fairlead writes to your user settings
undo: fairlead mcp remove -C /home -s user n
`,
  });
});
