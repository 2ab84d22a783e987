import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Ending, type Machine, machine, projectFile, userFile } from "../../support/machine.ts";
import { pathOf, shellProgram } from "../../support/path-program.ts";
import { openTerminal } from "../../support/terminal.ts";

/** With these programs, of a line or two, and nothing else on its `PATH`. */
async function withPrograms(
  mcpServers: object,
  programs: Readonly<Record<string, string>>,
  file = userFile,
): Promise<Machine> {
  const here = await machine({ [file]: { mcpServers } });
  for (const [name, script] of Object.entries(programs)) await shellProgram(here, `programs/${name}`, script);
  return { ...here, env: { ...here.env, PATH: pathOf(here, "programs"), FAIRLEAD_SECRET_STORE: "file" } };
}

function pin(here: Machine, ...argv: readonly string[]): Promise<Ending> {
  return here.runWith({ env: here.env }, "mcp", "pin", ...argv);
}

async function argumentsIn(here: Machine, name = "a", file = userFile): Promise<unknown> {
  const { mcpServers } = JSON.parse(await here.read(file)) as { mcpServers: Record<string, { args: unknown }> };
  return mcpServers[name]?.args;
}

const digest = `sha256:${"a1".repeat(32)}`;
/** Writes down what it was asked, and answers the same each time. */
const answers = (answer: string): string => `echo "$*" >> "$HOME/asked"; echo '${answer}'`;

test.each([
  ["npx -y @scope/pkg", answers('"1.2.3"'), "-y @scope/pkg@1.2.3", "view @scope/pkg version --json --fetch-retries=0"],
  [
    "npx pkg@latest --port 1",
    answers('"2.0.0-rc.1"'),
    "pkg@2.0.0-rc.1 --port 1",
    "view pkg@latest version --json --fetch-retries=0",
  ],
  ["npx pkg@^1", answers('["1.0.0", "1.4.0"]'), "pkg@1.4.0", "view pkg@^1 version --json --fetch-retries=0"],
  [
    "npx --package=pkg server",
    answers('"1.2.3"'),
    "--package=pkg@1.2.3 server",
    "view pkg version --json --fetch-retries=0",
  ],
  [
    "npx --registry https://r.example pkg",
    answers('"1.2.3"'),
    "--registry https://r.example pkg@1.2.3",
    "view pkg version --json --fetch-retries=0 --registry https://r.example",
  ],
  ["env A=b npx pkg", answers('"1.2.3"'), "A=b npx pkg@1.2.3", "view pkg version --json --fetch-retries=0"],
  [
    "uvx mcp-server-time",
    answers("mcp-server-time==0.6.2"),
    "mcp-server-time@0.6.2",
    "pip compile --no-deps --no-header --no-annotate -",
  ],
  [
    "uvx --from My_Pkg[x]>=1 server",
    answers("my-pkg==1.5"),
    "--from My_Pkg[x]==1.5 server",
    "pip compile --no-deps --no-header --no-annotate -",
  ],
  ["uvx --quiet pkg", answers("pkg==1.5"), "--quiet pkg@1.5", "pip compile --no-deps --no-header --no-annotate -"],
  [
    "uvx --python 3.12 pkg@latest",
    answers("pkg==1.5"),
    "--python 3.12 pkg@1.5",
    "pip compile --no-deps --no-header --no-annotate --python 3.12 -",
  ],
  [
    "docker run -i --rm mcp/time:1.2",
    answers(`["other@sha256:${"b".repeat(64)}","mcp/time@${digest}"]`),
    `run -i --rm mcp/time:1.2@${digest}`,
    "image inspect --format {{json .RepoDigests}} mcp/time:1.2",
  ],
])("%s", async (line, script, pinned, asked) => {
  const [command = "", ...args] = line.split(" ");
  await using here = await withPrograms({ a: { command, args } }, { npm: script, uv: script, docker: script });
  const { code, stdout, stderr } = await pin(here, "a");
  expect({ code, stderr }).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^undo: fairlead mcp add --replace /),
  });
  expect(stdout).toMatch(/^"a": \S+ → \S+ \(\S+\)\n$/);
  expect(await argumentsIn(here)).toEqual(pinned.split(" "));
  expect(await here.read("home/asked")).toBe(`${asked}\n`);
  // A second time there is nothing left to do, and nothing to ask the user.
  expect(await pin(here, "a")).toEqual({ code: 0, stdout: '"a" is already pinned\n', stderr: "" });
  expect(await here.read("home/asked")).toBe(`${asked}\n`);
});

test("everything else in the file stays as it is, comments between the arguments too", async () => {
  await using here = await withPrograms({}, { npm: answers('"1.2.3"') });
  const text = `{
  // mine
  "mcpServers": {
    "a": { "command": "npx", "args": [
      "-y", // no questions
      "pkg", /* which one? */
    ] },
  },
}`;
  await here.write(userFile, text);
  expect(await pin(here, "a")).toMatchObject({ code: 0 });
  expect(await here.read(userFile)).toBe(text.replace('"pkg"', '"pkg@1.2.3"'));
});

test("what was pinned can be taken back with the line that is shown", async () => {
  await using here = await withPrograms({ a: { command: "npx", args: ["pkg"] } }, { npm: answers('"1.2.3"') });
  const before = await here.read(userFile);
  const { stderr } = await pin(here, "a");
  const words = /^undo: fairlead (.*) '(.*)'\n$/.exec(stderr);
  await here.runWith({ env: here.env }, ...(words?.[1] ?? "").split(" "), words?.[2] ?? "");
  expect(JSON.parse(await here.read(userFile))).toEqual(JSON.parse(before));
});

const offline = `echo '{"error": {"code": "ENOTFOUND", "summary": "getaddrinfo"}}'; exit 1`;

describe("without a network", () => {
  const entry = { a: { command: "npx", args: ["pkg"] } };

  test("what npx has is what would run", async () => {
    await using here = await withPrograms(entry, { npm: offline });
    for (const [run, version, day] of [
      ["1", "1.1.0", 3],
      ["2", "1.2.0", 5],
      ["3", "1.3.0", 4],
    ] as const) {
      const file = await here.write(`home/.npm/_npx/${run}/node_modules/pkg/package.json`, { version });
      await utimes(file, day, day);
    }
    const { code, stderr } = await pin(here, "a");
    expect(code).toBe(0);
    expect(stderr).toMatch(/^note: the registry cannot be reached; this version is from npx's cache\n/);
    expect(await argumentsIn(here)).toEqual(["pkg@1.2.0"]);
  });

  test("and with nothing there it says so, and changes nothing", async () => {
    await using here = await withPrograms(entry, { npm: offline });
    const before = await here.read(userFile);
    expect(await pin(here, "a")).toEqual({
      code: 4,
      stdout: "",
      stderr:
        "fairlead: the registry cannot be reached (ENOTFOUND), and npx has not downloaded pkg\n  next: try again with a network connection\n",
    });
    expect(await here.read(userFile)).toBe(before);
  });
});

test.each<[string, Readonly<Record<string, string>>, number, RegExp]>([
  [
    "npx pkg",
    { npm: `echo '{"error": {"code": "E404"}}'; exit 1` },
    4,
    /version of pkg not found: npm: no such package/,
  ],
  ["npx pkg", { npm: "echo no; exit 1" }, 4, /it printed no error message/],
  [
    "npx pkg",
    { npm: "printf '\\n  \\nno disk\\nmore\\n' >&2; exit 1" },
    4,
    /npm: no disk\n {2}next: npm view pkg version/,
  ],
  [
    "npx pkg",
    { npm: `echo '{"error": {"code": "EX", "summary": "no luck"}}'; echo x >&2; exit 1` },
    4,
    /npm: no luck\n/,
  ],
  ["npx pkg", {}, 4, /"npm" is not on the PATH of "a"\n {2}next: fairlead doctor/],
  ["npx $PKG", {}, 2, /cannot be pinned: its package name \$PKG contains a variable/],
  ["npx git+https://example.com/x", {}, 2, /cannot be pinned: git\+https:\/\/example.com\/x is not a package name/],
  ["node server.js", {}, 2, /its command does not download a package or image/],
  [
    "pipx run pkg",
    {},
    2,
    /cannot be pinned: Fairlead does not support pkg with pipx\n {2}next: write the exact version yourself/,
  ],
  ["uvx pkg", { uv: "echo 'no such host' >&2; exit 2" }, 4, /version of pkg not found: uv: no such host/],
  [
    "docker run x",
    { docker: "echo 'Error: No such image: x' >&2; exit 1" },
    2,
    /image x not found on this machine\n {2}next: docker pull x/,
  ],
  ["docker run x", { docker: "echo '[]'" }, 2, /was built on this machine/],
  ["docker run x", { docker: "echo 'no daemon' >&2; exit 1" }, 4, /docker cannot read the digest of x: no daemon/],
])("%s cannot be pinned with %o", async (line, programs, code, message) => {
  const [command = "", ...args] = line.split(" ");
  await using here = await withPrograms({ a: { command, args } }, programs);
  const before = await here.read(userFile);
  const ending = await here.runWith({ env: { ...here.env, PKG: "pkg" } }, "mcp", "pin", "a");
  expect(ending).toMatchObject({ code, stdout: "", stderr: expect.stringMatching(message) });
  expect(await here.read(userFile)).toBe(before);
});

test("all of them: those that cannot be pinned are named, the others are", async () => {
  const servers = {
    a: { command: "npx", args: ["pkg"] },
    b: { command: "node", args: ["x.js"] },
    c: { command: "npx", args: ["pkg@1.0.0"] },
    d: { command: "docker", args: ["run", "x"] },
  };
  await using here = await withPrograms(servers, { npm: answers('"1.2.3"'), docker: "echo '[]'" });
  const { code, stdout, stderr } = await pin(here, "--all", "--json");
  expect(code).toBe(2);
  expect(stderr).toBe("fairlead: not pinned: 1 of 3 servers\n");
  expect(JSON.parse(stdout)).toEqual({
    schemaVersion: 1,
    pinned: [
      {
        name: "a",
        scope: "user",
        file: join(here.path, userFile),
        before: "pkg",
        after: "pkg@1.2.3",
        undo: expect.stringContaining("--replace"),
      },
    ],
    unchanged: ["c"],
    failed: [{ name: "d", error: { code: "usage", message: expect.any(String), next: expect.any(String) } }],
  });
  expect(await pin(here)).toMatchObject({ code: 2 });
  expect(await pin(here, "a", "--all")).toMatchObject({ code: 2 });
});

describe("an entry of a project", () => {
  const servers = { a: { command: "npx", args: ["pkg"] } };

  test("runs nothing before it is approved", async () => {
    await using here = await withPrograms(servers, { npm: answers('"1.2.3"') }, projectFile);
    expect(await pin(here, "a")).toMatchObject({ code: 6, stderr: expect.stringContaining("fairlead trust add") });
    await expect(here.read("home/asked")).rejects.toThrow();
  });

  test("has to be approved again, which is said without a terminal to ask on", async () => {
    await using here = await withPrograms(servers, { npm: answers('"1.2.3"') }, projectFile);
    await here.runWith({ env: here.env }, "trust", "add", "--yes");
    const { code, stderr } = await pin(here, "a");
    expect(code).toBe(0);
    expect(stderr).toMatch(/^"a" has changed, so it needs a new approval\n {2}next: fairlead trust add\n/);
    expect(await argumentsIn(here, "a", projectFile)).toEqual(["pkg@1.2.3"]);
    const { servers: after } = JSON.parse((await here.runWith({ env: here.env }, "mcp", "list", "--json")).stdout) as {
      servers: unknown;
    };
    expect(after).toMatchObject([{ status: "blocked", reason: "awaiting_approval" }]);
  });

  test.each([
    ["y\r", "admitted"],
    ["\r", "blocked"],
  ])("and is, on a terminal, by %j", async (answer, outcome) => {
    await using here = await withPrograms(servers, { npm: answers('"1.2.3"') }, projectFile);
    await here.runWith({ env: here.env }, "trust", "add", "--yes");
    await using terminal = openTerminal(here, "mcp", "pin", "a");
    await terminal.until(/Approve a with pkg@1\.2\.3 instead of pkg\? \[y\/N\]/);
    terminal.type(answer);
    expect(await terminal.exitCode).toBe(0);
    const { status } = JSON.parse((await here.runWith({ env: here.env }, "mcp", "get", "a", "--json")).stdout) as {
      status: string;
    };
    expect(status).toBe(outcome === "admitted" ? "disconnected" : "blocked");
  });
});
