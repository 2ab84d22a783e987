import { expect, test } from "vitest";
import { checkPrograms, type LaunchFacts, type ProgramFacts } from "../../src/doctor/check-programs.ts";

const node = { version: "v20.19.0", file: "/n/node" };
const origin = { scope: "user", file: "/s.json", line: 3, column: 5 } as const;
const launch: LaunchFacts = { server: "a", origin, command: "npx", file: "/n/npx", droppedPath: [] };
const missing: LaunchFacts = { server: "a", origin, command: "npx", droppedPath: [] };

const fine = { severity: "ok", message: "Node v20.19.0 (/n/node)" };
const idle = { severity: "ok", message: "/n/npx" };
const notFound = { severity: "problem", server: "a", code: "command_not_found" };

function check(facts: Partial<ProgramFacts>): unknown {
  return checkPrograms({ node, npx: "/n/npx", relativePath: [], launches: [], ...facts });
}

test.each<[string, Partial<ProgramFacts>, object[]]>([
  ["nothing configured", {}, [fine, idle]],
  [
    "a program that is there",
    { launches: [launch, { ...launch, server: "b" }] },
    [fine, { severity: "ok", message: "/n/npx (a, b)" }],
  ],
  [
    "an old Node",
    { node: { ...node, version: "v20.18.3" } },
    [
      {
        severity: "problem",
        code: "internal",
        message: "Node v20.18.3 (/n/node) is too old: Fairlead needs 20.19 or later",
        next: "install a newer Node: https://nodejs.org",
      },
      idle,
    ],
  ],
  [
    "another Node for the servers",
    { node: { ...node, other: "/o/node" }, launches: [{ ...launch, command: "node", file: "/o/node" }] },
    [
      fine,
      { severity: "note", message: "a: runs on /o/node, but Fairlead runs on /n/node" },
      idle,
      { severity: "ok", message: "/o/node (a)" },
    ],
  ],
  [
    "a program that is nowhere",
    { launches: [missing] },
    [
      fine,
      idle,
      {
        ...notFound,
        message: '"a" runs npx, which is not on the server\'s PATH',
        next: "install Node.js: https://nodejs.org; or correct the server's entry (/s.json:3)",
      },
    ],
  ],
  [
    "a path that leads nowhere",
    { launches: [{ ...missing, command: "/x/server" }] },
    [
      fine,
      idle,
      {
        ...notFound,
        message: '"a" runs /x/server, which does not exist or is not executable',
        next: "install it; or correct the server's entry (/s.json:3)",
      },
    ],
  ],
  [
    "a program that only shells find",
    { launches: [{ ...missing, elsewhere: { manager: "nvm", folder: "/h/v22/bin" } }] },
    [
      fine,
      idle,
      {
        ...notFound,
        message:
          '"a" runs npx, which is not on the server\'s PATH: it is in /h/v22/bin (nvm), which only your own shell has on its PATH',
        next: 'add "env": { "PATH": "/h/v22/bin:$PATH" } to its entry (/s.json:3)',
      },
    ],
  ],
  [
    "a script whose interpreter is missing",
    {
      launches: [
        {
          ...launch,
          interpreter: { name: "node", isFound: false },
          elsewhere: { manager: "nvm", folder: "/h/v22/bin" },
        },
      ],
    },
    [
      fine,
      { severity: "ok", message: "/n/npx (a)" },
      {
        ...notFound,
        message:
          '"a" runs /n/npx, which needs node, and that is not on the server\'s PATH: it is in /h/v22/bin (nvm), which only your own shell has on its PATH',
        next: 'add "env": { "PATH": "/h/v22/bin:$PATH" } to its entry (/s.json:3)',
      },
    ],
  ],
  [
    "a program that this shell finds by way of nvm",
    { launches: [{ ...launch, managed: { manager: "nvm", folder: "/n" } }] },
    [
      fine,
      { severity: "ok", message: "/n/npx (a)" },
      {
        severity: "note",
        message: "a: program found in a folder of nvm (/n), which editors and services do not have on their PATH",
        next: 'add "env": { "PATH": "/n:$PATH" } to its entry (/s.json:3)',
      },
    ],
  ],
  [
    "only a PowerShell script",
    { launches: [{ ...missing, script: "C:\\n\\npx.ps1" }] },
    [
      fine,
      idle,
      {
        ...notFound,
        message: '"a" runs npx, but only the script C:\\n\\npx.ps1 exists, which cannot be started as a program',
        next: 'write "command": "powershell" and "args": ["-File", "C:\\\\n\\\\npx.ps1", …] in its entry (/s.json:3)',
      },
    ],
  ],
  [
    "one that may not run from here",
    {
      launches: [{ ...missing, refused: { code: "untrusted_folder", message: "no", next: "fairlead trust add" } }],
    },
    [
      fine,
      idle,
      { severity: "problem", server: "a", code: "untrusted_folder", message: "no", next: "fairlead trust add" },
    ],
  ],
  [
    "a PATH that is shortened",
    { relativePath: ["."], launches: [{ ...launch, droppedPath: [".", "/w/bin"] }] },
    [
      fine,
      { severity: "ok", message: "/n/npx (a)" },
      {
        severity: "note",
        message: 'the workspace is not trusted, so these folders were removed from the servers\' PATH: ".", "/w/bin"',
        next: "fairlead trust add",
      },
    ],
  ],
  [
    "a relative PATH",
    { relativePath: ["", "bin", ""] },
    [
      fine,
      idle,
      {
        severity: "warning",
        message: 'PATH has relative folders, which depend on the current folder: "", "bin"',
        next: "remove them from PATH in your shell's startup file",
      },
    ],
  ],
])("%s", (_name, facts, findings) => {
  expect(check(facts)).toEqual(findings);
});

test("without npx, that is good to know", () => {
  expect(checkPrograms({ node, relativePath: [], launches: [] })).toEqual([
    fine,
    {
      severity: "note",
      message: "npx is not on PATH: servers from npm packages need it",
      next: "install Node.js: https://nodejs.org",
    },
  ]);
});
