/** What each command answers if it has nothing to do, or if the user's words name nothing that exists. */

import { expect, test } from "vitest";
import { type Machine, machine, userFile } from "../support/machine.ts";

const off = '"off" is disabled: fairlead.servers.off.enabled is false in /home/.gemini/settings.json:10';
const noServer = (name: string): string => `no server "${name}" is configured\n  next: fairlead mcp list`;

function machineWithDisabledServer(): Promise<Machine> {
  return machine({
    [userFile]: { mcpServers: { off: { command: "x" } }, fairlead: { servers: { off: { enabled: false } } } },
    "project/old.ts": "// mine\n",
    "project/report.md": "mine",
  });
}

test("each refusal names the cause, and the next step where there is one", async () => {
  await using here = await machineWithDisabledServer();
  const refusals: readonly (readonly [words: string, code: number, message: string])[] = [
    ["help errors zzzzzzzzzz", 2, 'unknown error code "zzzzzzzzzz"\n  next: fairlead help errors'],
    ["generate ts nope", 2, noServer("nope")],
    ["generate ts demo nope", 2, noServer("nope")],
    ["generate ts off", 6, `${off}\n  next: fairlead mcp enable off`],
    [
      "generate ts demo -o old.ts",
      2,
      "old.ts exists and was not written by fairlead generate\n  next: delete this file, or choose another file with -o",
    ],
    [
      "bug-report off",
      2,
      "bug-report asks before it writes, and there is no terminal to ask on\n  next: fairlead bug-report off --yes",
    ],
    ["bug-report nope --yes", 2, noServer("nope")],
    ["mcp logout", 2, "give one server name, or --all\n  next: fairlead mcp auth"],
    ["mcp logout --all off", 2, "give one server name, or --all\n  next: fairlead mcp auth"],
    ["mcp logout nope", 2, noServer("nope")],
    ["mcp auth --device", 2, "the server's name is missing\n  next: fairlead mcp auth"],
    ["mcp auth --no-browser", 2, "the server's name is missing\n  next: fairlead mcp auth"],
    ["mcp auth --scopes x", 2, "the server's name is missing\n  next: fairlead mcp auth"],
    ["mcp auth nope", 2, noServer("nope")],
    ["mcp auth off", 6, `${off}\n  next: fairlead mcp enable off`],
    ["mcp pin", 2, "give one server name, or --all"],
    ["mcp pin --all off", 2, "give one server name, or --all"],
    ["mcp pin off", 2, '"off" cannot be pinned: its command does not download a package or image'],
    ["mcp pin nope", 2, noServer("nope")],
    [
      "lock update nope",
      2,
      'no server "nope" in this workspace\'s settings, nor in /project/.gemini/mcp.lock\n  next: fairlead mcp list',
    ],
    ["mcp import --from no.json", 2, "/project/no.json does not exist\n  next: check the path after --from"],
    ["mcp import --only x", 2, 'found no server "x"\n  next: fairlead mcp import'],
    ["record nope", 2, noServer("nope")],
    [
      "serve-recording no.jsonl",
      2,
      "no recording /project/no.jsonl: the file does not exist\n  next: fairlead record SERVER -o /project/no.jsonl",
    ],
    ["test no.yaml", 2, "the file of checks /project/no.yaml does not exist\n  next: fairlead test --help"],
    ["serve --no-token", 2, "--no-token works only with --http\n  next: fairlead serve --help"],
    [
      "disconnect codex",
      2,
      "Codex is not connected: Fairlead has written nothing to /home/.codex/config.toml, and the client has no token\n  next: fairlead connect --list",
    ],
  ];
  for (const [words, code, message] of refusals) {
    const ending = await here.run(...words.split(" "));
    expect({ ...ending, stderr: ending.stderr.replaceAll(here.path, "") }, words).toEqual({
      code,
      stdout: "",
      stderr: `fairlead: ${message}\n`,
    });
  }
});

test("a command with nothing to do tells the user so", async () => {
  await using here = await machineWithDisabledServer();
  const answers: readonly (readonly [words: string, stdout: string, stderr?: string])[] = [
    ["mcp logout --all", "No server is signed in.\n"],
    ["mcp logout off", '"off" is not signed in.\n'],
    ["mcp auth", "No server needs a sign-in: no server that may start has a URL.\n"],
    ["mcp pin --all", "", "Nothing to pin: no server is downloaded when it starts.\n"],
    ["lock", "Nothing to lock: no servers in /project/.gemini/settings.json.\n"],
    ["lock verify", "Nothing to verify: no servers in /project/.gemini/settings.json, and no lock file.\n"],
    [
      "help errors busy",
      "busy (exit code 1)\n  Too many calls are already waiting for this server.\n  next: Try again when some calls have finished.\n",
    ],
  ];
  for (const [words, stdout, stderr = ""] of answers) {
    const ending = await here.run(...words.split(" "));
    const shown = [ending.code, ending.stdout.replaceAll(here.path, ""), ending.stderr];
    expect(shown, words).toEqual([0, stdout, stderr]);
  }
  const documents: readonly (readonly [words: string, document: object])[] = [
    ["mcp logout --all", { servers: [] }],
    ["mcp pin --all", { pinned: [], unchanged: [], failed: [] }],
    ["lock", { file: "/project/.gemini/mcp.lock", state: "absent", servers: [] }],
    ["lock verify", { file: "/project/.gemini/mcp.lock", ok: true, servers: [] }],
    [
      "mcp import --format cursor",
      {
        written: false,
        target: { scope: "user", file: "/home/.gemini/settings.json" },
        sources: [
          { program: "cursor", file: "/home/.cursor/mcp.json", state: "absent" },
          { program: "cursor", file: "/project/.cursor/mcp.json", folder: "/project", state: "absent" },
        ],
        servers: [],
      },
    ],
  ];
  for (const [words, document] of documents) {
    const { stdout, stderr } = await here.run(...words.split(" "), "--json");
    const shown = [JSON.parse(stdout.replaceAll(here.path, "")), stderr];
    expect(shown, words).toEqual([{ schemaVersion: 1, ...document }, ""]);
  }
});

test("generate and bug-report tell the user which file was written, and never replace a file of the user", async () => {
  await using here = await machineWithDisabledServer();
  const run = async (words: string): Promise<readonly [number, string]> => {
    const { code, stderr } = await here.run(...words.split(" "));
    return [code, stderr.replaceAll(here.path, "")];
  };
  expect(await run("generate ts demo demo -o new.ts")).toEqual([0, "new.ts: 6 tools, written\n"]);
  expect(await run("generate ts demo -o new.ts")).toEqual([0, "new.ts: 6 tools, unchanged\n"]);
  const document = JSON.parse((await here.run("generate", "ts", "demo", "-o", "new.ts", "--json")).stdout);
  expect(document).toEqual({ schemaVersion: 1, servers: ["demo"], tools: 6, file: "new.ts", changed: false });
  expect(await run("bug-report --yes -o report.md")).toEqual([
    2,
    "fairlead: /project/report.md cannot be written: the file exists\n  next: choose another file with -o\n",
  ]);
  expect(await run("bug-report --yes -o no/r.md")).toEqual([
    2,
    `fairlead: /project/no/r.md cannot be written: there is no folder /project/no\n  next: mkdir -p /project/no\n`,
  ]);
  expect(await run("bug-report --yes -o out.md")).toEqual([
    0,
    `written: /project/out.md
next: read the file, then attach it to an issue at https://github.com/fairlead/fairlead/issues
`,
  ]);
  expect(await here.read("project/report.md")).toBe("mine");
});
