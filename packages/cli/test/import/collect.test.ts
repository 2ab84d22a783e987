import { scaled, seed, temporaryFolder } from "@fairlead/test-servers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { clients } from "../../src/clients/client.ts";
import { checkEntry } from "../../src/import/convert.ts";
import { type Collection, collect } from "../../src/import/plan.ts";
import { type Program, programNames } from "../../src/import/program.ts";

async function collectFrom(program: Program, file: string): Promise<Collection> {
  const environment = { env: {}, home: "/home/me", cwd: "/app", platform: "linux" } as const;
  const context = { environment, root: "/app", trusted: true, target: "user", lookup: () => undefined } as const;
  return collect([{ program, file }], context);
}

/** Entries that look right until one looks closer: known keys, any values. */
const keys =
  "type command args env cwd envFile url serverUrl headers timeout disabled oauth auth env_vars http_headers tool_timeout_sec transport tools cmd envs uri env_keys bearerToken bearerTokenEnv available_tools";
const text = fc.oneof(
  fc.constantFrom("stdio", "http", "npx", "https://x.example", "./x", "${env:A}", "${A:-", "$"),
  fc.string(),
);
const value = fc.oneof(
  text,
  fc.array(text, { maxLength: 3 }),
  fc.dictionary(text, text, { maxKeys: 3 }),
  fc.jsonValue(),
);
const server = fc.oneof(
  fc.dictionary(fc.constantFrom(...keys.split(" "), "__proto__"), value, { maxKeys: 6 }),
  fc.jsonValue(),
);
const servers = fc.oneof(
  fc.dictionary(fc.oneof(fc.string(), fc.constant("__proto__")), server, { maxKeys: 4 }),
  fc.jsonValue(),
);

test.each(programNames.filter((name) => clients[name].syntax !== "toml"))(
  "whatever %s's file holds, what is taken over is right",
  async (program) => {
    await using folder = await temporaryFolder();
    const { key } = clients[program];
    const taken: string[] = [];
    await fc.assert(
      fc.asyncProperty(servers, async (written) => {
        const file = await folder.write("file", JSON.stringify({ [key]: written }));
        for (const { name, conversion } of (await collectFrom(program, file)).candidates) {
          if (conversion.remarks.some(({ kind }) => kind === "obstacle")) continue;
          taken.push(name);
          expect(checkEntry(name, conversion.entry)).toEqual([]);
          expect(Object.keys(conversion.entry)).not.toContain("trust");
        }
      }),
      {
        numRuns: scaled(2000, 60),
        seed: seed(),
        examples: [[{ sure: { type: program === "goose" ? "stdio" : undefined, command: "npx", args: ["-y", "x"] } }]],
      },
    );
    expect(taken).toContain("sure");
  },
);

test("a server's relative command starts in the folder of its project, or of its file", async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write("claude.json", {
    mcpServers: { own: { command: "./a" } },
    projects: { "/app": { mcpServers: { kept: { command: "./b" } } } },
  });
  const environment = { env: {}, home: "/home/me", cwd: "/app/sub", platform: "linux" } as const;
  const context = { environment, root: "/app", trusted: true, target: "user", lookup: () => undefined } as const;
  const commands = async (source: { folder?: string }): Promise<unknown> =>
    (await collect([{ program: "claude-code", file, ...source }], context)).candidates.map(
      ({ name, conversion }) => `${name}: ${String(conversion.entry["command"])}`,
    );
  expect(await commands({})).toEqual(["own: ./a", "kept: /app/b"]);
  expect(await commands({ folder: "/other" })).toEqual(["own: /other/a", "kept: /app/b"]);
});

test.each([
  ["vscode", '{ "servers": { "a": { "command": "x", "args": ["\\u0041", 1.5e3, null, true] } } /* end */ }'],
  [
    "codex",
    '[mcp_servers."a b"]\ncommand = "x"\nargs = [\'y\', """z"""]\nenv = { A = "1" }\ntool_timeout_sec = 1_000.5\nwhen = 1979-05-27T07:32:00Z\n',
  ],
  [
    "goose",
    "# mine\nextensions:\n  a:\n    type: stdio\n    cmd: 'x'\n    args: [-y, \"z\"]\n    envs: { A: '1' }\n    d: |\n      b\n  b: &x\n    type: sse\n  c: *x\n",
  ],
] as const)("a %s file cut at any byte is read or broken, never worse", async (program, whole) => {
  await using folder = await temporaryFolder();
  for (let length = 0; length <= whole.length; length += 1) {
    const { files } = await collectFrom(program, await folder.write("file", whole.slice(0, length)));
    expect(["read", "broken"]).toContain(files[0]?.file.kind);
  }
});
