import { join } from "node:path";
import { createLedger, type LedgerRecord, ledgerFolder } from "@fairlead/core/policy/ledger/ledger";
import { describe, expect, test } from "vitest";
import { type Machine, machine, userFile } from "../support/machine.ts";
import { openTerminal } from "../support/terminal.ts";

const call: LedgerRecord = {
  server: "files",
  tool: "read",
  kind: "tool",
  arguments: { path: "notes.txt" },
  decision: "allow",
  rule: "the default for your own requests allows it",
  mode: "default",
  outcome: "ok",
  durationMs: 12.4,
};

const minute = 60_000;
const morning = Date.parse("2026-01-31T08:30:00.250Z");

/** As hosts have left it: an entry a minute. */
async function machineWith(records: readonly Partial<LedgerRecord>[], keepArguments = false): Promise<Machine> {
  const here = await machine();
  let now = morning;
  const folder = ledgerFolder(join(here.home, ".fairlead"));
  const ledger = createLedger({ folder, keepArguments: () => keepArguments, now: () => now });
  for (const record of records) {
    await ledger.write({ ...call, ...record });
    now += minute;
  }
  return here;
}

test("on a terminal no line is wider than it, and no word is broken", async () => {
  await using here = await machineWith([
    { durationMs: 2201, confirmationMs: 2190, decision: "ask_user", answer: "asked" },
    { tool: "read_the_annotated_history_of_a_branch" },
  ]);
  await using terminal = openTerminal(here, "history", "--utc");
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen()).toMatch(/^ {2}the default for your own requests allows it; you said yes after 3 s$/m);
  expect(terminal.screen()).toMatch(/ask +ok +11 ms/);
});

async function toolsOf(here: Machine, ...options: readonly string[]): Promise<readonly string[]> {
  const { code, stdout } = await here.run("history", "--json", ...options);
  expect(code).toBe(0);
  return (JSON.parse(stdout) as { entries: { tool: string }[] }).entries.map(({ tool }) => tool);
}

test("a table: newest last, who decided and what came of it", async () => {
  await using here = await machineWith([
    {},
    {
      tool: "write",
      decision: "deny",
      rule: "deny in ~/.gemini/policies/mine.toml:3",
      outcome: "denied",
      durationMs: 0,
    },
    { kind: "resource", server: "books", tool: "book://1" },
    { kind: "prompt", server: "books", tool: "review", outcome: "lost" },
    { kind: "sampling", tool: "", decision: "ask_user" },
  ]);
  expect(await here.run("history", "--utc")).toEqual({
    code: 0,
    stdout: `time                  what                    decision  outcome  took   rule
2026-01-31T08:30:00Z  files.read              allow     ok       12 ms  the default for your own requests allows it
2026-01-31T08:31:00Z  files.write             deny      denied   0 ms   deny in ~/.gemini/policies/mine.toml:3
2026-01-31T08:32:00Z  read book://1 of books  allow     ok       12 ms  the default for your own requests allows it
2026-01-31T08:33:00Z  prompt books.review     allow     lost     12 ms  the default for your own requests allows it
2026-01-31T08:34:00Z  sampling for files      ask       ok       12 ms  the default for your own requests allows it
`,
    stderr: "",
  });
});

describe("local time", () => {
  test.each([
    ["Asia/Kolkata", "2026-01-31 14:00:00"],
    ["America/St_Johns", "2026-01-31 05:00:00"],
    ["UTC", "2026-01-31 08:30:00"],
  ])("%s", async (zone, time) => {
    await using here = await machineWith([{}]);
    const { TZ } = process.env;
    process.env["TZ"] = zone;
    try {
      expect((await here.run("history")).stdout.split("\n")[1]).toMatch(new RegExp(`^${time}  files\\.read`));
      expect((await here.run("history", "--utc")).stdout).toContain("\n2026-01-31T08:30:00Z  files.read");
      expect(await toolsOf(here, "--since", time.slice(0, 16))).toHaveLength(1);
      expect(await toolsOf(here, "--utc", "--since", "2026-01-31 08:30")).toHaveLength(1);
      expect(await toolsOf(here, "--utc", "--since", "2026-01-31T08:31")).toHaveLength(0);
      expect(await toolsOf(here, "--since", "2026-01-31")).toHaveLength(1);
    } finally {
      if (TZ === undefined) delete process.env["TZ"];
      else process.env["TZ"] = TZ;
    }
  });
});

test("who answered a rule that asks", async () => {
  await using here = await machineWith([
    { decision: "ask_user", answer: "asked" },
    { decision: "ask_user", answer: "in_advance" },
    { decision: "ask_user", answer: "typed" },
    { decision: "ask_user", outcome: "denied", refusal: "user" },
    { decision: "ask_user", outcome: "denied", refusal: "no_terminal" },
    { client: "codex", decision: "ask_user", answer: "asked", answeredIn: "page" },
    { client: "codex", decision: "ask_user", answer: "asked", answeredIn: "grant" },
    { client: "codex", decision: "ask_user", outcome: "denied", refusal: "user", answeredIn: "form" },
    { client: "codex", decision: "ask_user", outcome: "denied", refusal: "no_terminal" },
  ]);
  const { stdout } = await here.run("history");
  expect(stdout.match(/(?<=allows it).*$/gm)).toEqual([
    "; you said yes",
    "; --yes",
    "",
    "; you said no",
    "; there was no terminal to ask on",
    "; you said yes on the gateway's page",
    "; you said yes before the client repeated the call",
    "; you said no in the client's form",
    "; no answer came",
  ]);
});

test("requests of clients name the client, and can be chosen by it", async () => {
  await using here = await machineWith([{ client: "codex" }, { tool: "write" }]);
  expect((await here.run("history")).stdout).toContain("  files.read (codex)  allow");
  expect(await toolsOf(here, "--client", "codex")).toEqual(["read"]);
});

test("requests of a trace name it, and can be chosen by its id or by a traceparent", async () => {
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  await using here = await machineWith([{ tool: "write", traceId: "a".repeat(32) }, { traceId }, {}]);
  const { stdout } = await here.run("history", "--trace", traceId);
  expect(stdout.split("\n").slice(1)).toEqual([expect.stringContaining("files.read"), `  trace ${traceId}`, ""]);
  for (const word of [traceId, traceId.toUpperCase(), `00-${traceId}-00f067aa0ba902b7-01`])
    expect(await toolsOf(here, "--trace", word)).toEqual(["read"]);
  const { stdout: json } = await here.run("history", "--json", "--trace", traceId);
  expect(JSON.parse(json)).toMatchObject({ schemaVersion: 1, entries: [{ tool: "read", traceId }] });
  expect(await here.run("history", "--trace", "4bf9")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--trace must be the 32 hex digits of a trace\'s id, not "4bf9"'),
  });
});

test("names of servers move no cursor, and are not longer than a table bears", async () => {
  await using here = await machineWith([{ tool: `\u001b[2J${"x".repeat(500)}`, rule: "a\nb" }]);
  const { stdout } = await here.run("history");
  expect(stdout).not.toContain("\u001b");
  expect(stdout).toMatch(/files\.␛\[2Jx{30,}… {2}allow {5}ok {7}12 ms {2}a␊b\n$/);
});

test("arguments are shown below their call where they were kept", async () => {
  await using here = await machineWith([{ arguments: { path: "\u202Enotes", n: 1 } }], true);
  const { stdout } = await here.run("history");
  expect(stdout.split("\n").slice(2)).toEqual(['  {"path":"\\u202enotes","n":1}', ""]);
});

describe("options choose", () => {
  const records: readonly Partial<LedgerRecord>[] = [
    { tool: "one" },
    { tool: "two", server: "books" },
    { tool: "three", decision: "deny", outcome: "denied" },
    { tool: "four", decision: "ask_user", outcome: "denied" },
    { tool: "five", outcome: "changed" },
    { tool: "six", outcome: "tool_error" },
  ];

  test.each([
    [[], ["one", "two", "three", "four", "five", "six"]],
    [["--server", "books"], ["two"]],
    [["--server", "book"], []],
    [["--tool", "six"], ["six"]],
    [
      ["--since", "2026-01-31T08:34:00Z"],
      ["five", "six"],
    ],
    [["--since", "1m"], []],
    [["--denied"], ["three", "four", "five"]],
    [
      ["--limit", "2"],
      ["five", "six"],
    ],
    [["--denied", "--limit", "1", "--server", "files"], ["five"]],
  ])("%j", async (options, tools) => {
    await using here = await machineWith(records);
    expect(await toolsOf(here, ...options)).toEqual(tools);
  });

  test.each([
    [["--limit", "0"], '--limit must be a whole number above zero, not "0"'],
    [["--limit", "many"], '--limit must be a whole number above zero, not "many"'],
    [["--since", "soon"], '--since "soon" is not a time or a duration'],
  ])("%j is a mistake", async (options, message) => {
    await using here = await machine();
    const { code, stderr } = await here.run("history", ...options);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test("fifty, unless said otherwise, and it says that there may be more", async () => {
    await using here = await machineWith(Array.from({ length: 60 }, (_, index) => ({ tool: `t${index}` })));
    const { stdout, stderr } = await here.run("history");
    expect(stdout.split("\n")).toHaveLength(52);
    expect(stdout).toContain("files.t10 ");
    expect(stderr).toBe("showing the last 50; use --limit to show more\n");
    expect(await toolsOf(here, "--limit", "100")).toHaveLength(60);
  });
});

test("where nothing was asked yet, it says so", async () => {
  await using here = await machine();
  expect(await here.run("history")).toEqual({
    code: 0,
    stdout: "",
    stderr: "no matching entries in the history\n",
  });
  expect(JSON.parse((await here.run("history", "--json")).stdout)).toEqual({ schemaVersion: 1, entries: [] });
});

test("a call that is typed is written down, also one that a setting stops; its arguments only if the settings say so", async () => {
  const fairlead = { permissions: { denyTools: ["read_file"] } };
  await using here = await machine({ [userFile]: { fairlead } });
  expect(await here.run("call", "demo.greet", "name=Canary")).toMatchObject({ code: 0 });
  await here.run("call", "--server", "demo", "--tool", "read_file");
  const { entries } = JSON.parse((await here.run("history", "--json")).stdout) as { entries: object[] };
  expect(entries).toEqual([
    expect.objectContaining({ server: "demo", tool: "greet", decision: "allow", outcome: "ok" }),
    expect.objectContaining({ server: "demo", tool: "read_file", decision: "deny", outcome: "denied" }),
  ]);
  expect(await here.read("home/.fairlead/ledger/000001.jsonl")).not.toContain("Canary");
  await here.write(userFile, { fairlead: { audit: { arguments: true } } });
  expect(await here.run("call", "demo.greet", "name=Canary")).toMatchObject({ code: 0 });
  expect((await here.run("history", "--limit", "1")).stdout).toContain('\n  {"name":"Canary"}\n');
});
