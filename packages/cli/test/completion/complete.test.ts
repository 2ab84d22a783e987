import { stat } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer, webServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { commandGroups, verbs } from "../../src/shell/verbs.ts";
import { type Machine, machine, projectFile, userFile } from "../support/machine.ts";
import { runProcess } from "../support/process.ts";
import { remembering } from "../support/remembered.ts";

/** What fish is told: the kind of the answer, then a word and what is said of it on each line. */
async function ask(here: Machine, ...words: readonly string[]): Promise<readonly string[]> {
  const { code, stdout, stderr } = await here.run("__complete", "fish", ...words);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.trimEnd().split("\n").slice(1);
}

async function wordsFor(here: Machine, ...words: readonly string[]): Promise<readonly string[]> {
  return (await ask(here, ...words)).map((line) => line.split("\t")[0] ?? "");
}

describe("commands and options", () => {
  test("the first word is a group, a command or help, each with its line of help", async () => {
    await using here = await machine();
    const single = verbs.filter(({ words }) => words !== "" && !words.includes(" ") && !commandGroups.has(words));
    expect(await ask(here, "")).toEqual([
      ...[...commandGroups].flatMap(([name, heading]) => (name.includes(" ") ? [] : `${name}\t${heading}`)),
      ...single.map(({ words, summary }) => `${words}\t${summary}`),
      "help\tshow help for a command or an error code",
    ]);
  });

  test.each([...commandGroups.keys()])("all commands of %s", async (group) => {
    await using here = await machine();
    const groups = [...commandGroups].filter(([name]) => verbs.every(({ words }) => words !== name));
    const rows = [...verbs.map(({ words, summary }) => [words, summary] as const), ...groups];
    const expected = rows.flatMap(([words, about]) => {
      const rest = words.startsWith(`${group} `) ? words.slice(group.length + 1) : " ";
      return rest.includes(" ") ? [] : `${rest}\t${about}`;
    });
    const typed = group.split(" ");
    expect(await ask(here, ...typed, "")).toEqual(expected);
    expect(await ask(here, "help", ...typed, "")).toEqual(expected);
    expect(await ask(here, "-C", ".", ...typed, "--json", "")).toEqual(expected);
  });

  test.each(verbs)("every option in the help of $words is offered, and no other", async ({ words }) => {
    await using here = await machine();
    const own = words.split(" ").filter((word) => word !== "");
    const { stdout } = await here.run(...(own.length === 0 ? ["--help"] : [...own, "--help"]));
    const inHelp = [...stdout.matchAll(/^ {2}(?:-\w, )?(-[-\w]+)/gm)].map(([, flag]) => flag);
    // What follows -p is the prompt, whatever it looks like.
    const typed = words === "-p" ? [...own, "Hello"] : own;
    expect(new Set(await wordsFor(here, ...typed, "-"))).toEqual(new Set(inHelp));
  });

  test.each<readonly [typed: readonly string[], words: readonly string[]]>([
    [["help", "errors", ""], expect.arrayContaining(["usage", "too_large", "cancelled"])],
    [["help", "mcp", "get", ""], []],
    [
      ["completion", ""],
      ["bash", "zsh", "fish"],
    ],
    [
      ["completion", "bash", ""],
      ["install", "uninstall"],
    ],
    [["completion", "bash", "install", ""], []],
    [
      ["call", "--images", ""],
      ["auto", "off"],
    ],
    [
      ["call", "--images="],
      ["--images=auto", "--images=off"],
    ],
    [["call", "--yes="], []],
    [["-p", ""], []],
    [
      ["-p", "Hello", "--output-format", ""],
      ["text", "json", "stream-json"],
    ],
    [["--approval-mode", "plan", "-p", "Hello", "--servers", ""], ["demo"]],
    [
      ["call", "-t", ""],
      ["http", "sse"],
    ],
    [
      ["mcp", "add", "--transport", ""],
      ["stdio", "sse", "http"],
    ],
    [["nonsense", ""], []],
    [["mcp", "nonsense", ""], []],
    [["doctor", "--", "-"], ["demo"]],
    [["mcp", "add", ""], []],
  ])("after %j", async (typed, words) => {
    await using here = await machine();
    expect(await wordsFor(here, ...typed)).toEqual(words);
  });

  test("after mcp add: bundles, and folders once a letter is typed", async () => {
    await using here = await machine();
    for (const name of ["weather.mcpb", "old.DXT", "words.txt", "work/notes.mcpb", "work/notes.txt"])
      await here.write(`project/${name}`, "");
    expect(await wordsFor(here, "mcp", "add", "")).toEqual(expect.arrayContaining(["weather.mcpb", "old.DXT"]));
    expect(await wordsFor(here, "mcp", "add", "")).toHaveLength(2);
    expect((await wordsFor(here, "mcp", "add", "w")).toSorted()).toEqual(["weather.mcpb", "work/"]);
    expect(await wordsFor(here, "mcp", "add", "--yes", "work/")).toEqual(["work/notes.mcpb"]);
  });

  test.each<readonly [typed: readonly string[], answer: string]>([
    [["-C", ""], "folders\t"],
    [["call", "--save", ""], "folders\t"],
    [["mcp", "list", "--settings", "x"], "files\t"],
    [["--settings=x"], "files\t--settings="],
    [["trust", "add", ""], "folders\t"],
    [["mcp", "add", "name", ""], "files\t"],
    [["mcp", "add", "~/Down"], "files\t"],
    [["mcp", "search", "--registry", "reg"], "files\t"],
    [["mcp", "add", "name", "npx", "-"], "files\t"],
    [["call", "demo.statistics", "text=@"], "files\ttext=@"],
    [["call", "demo.statistics", "text:=@a/b"], "files\ttext:=@"],
  ])("after %j the shell completes files", async (typed, answer) => {
    await using here = await machine();
    expect(await here.run("__complete", "fish", ...typed)).toEqual({ code: 0, stdout: `${answer}\n`, stderr: "" });
  });
});

describe("names", () => {
  test("conversations for --resume, also without a command, and servers for generate", async () => {
    await using here = await machine();
    const head = { v: 1, id: "20260131-083000-1a2b3c", time: "2026-01-31T08:30:00.000Z", workspace: here.project };
    const model = { provider: "manual", name: "manual" };
    const lines = [
      { ...head, model },
      { time: head.time, type: "input", text: "hello" },
    ].map((line) => JSON.stringify(line));
    await here.write(`home/.fairlead/conversations/${head.id}.jsonl`, `${lines.join("\n")}\n`);
    expect(await wordsFor(here, "--resume", "")).toEqual([head.id]);
    expect(await wordsFor(here, "-p", "hello", "--resume", "2026")).toEqual([head.id]);
    expect(await wordsFor(here, "--resume", "--")).toContain("--plain");
    expect(await wordsFor(here, "generate", "ts", "")).toEqual(["demo"]);
  });

  test("servers, with what they are; for a call those that may start", async () => {
    await using here = await machine({
      [userFile]: {
        mcpServers: { mine: { command: "x", description: "My own." }, off: { url: "https://example.com/mcp" } },
        fairlead: { servers: { off: { enabled: false } } },
      },
      [projectFile]: { mcpServers: { theirs: { command: "y" } } },
    });
    expect(await ask(here, "tools", "")).toEqual([
      "mine\tMy own.",
      "off\tdisabled: http",
      "theirs\tblocked: stdio",
      "demo\tbuilt in",
    ]);
    expect(await wordsFor(here, "mcp", "get", "")).toEqual(["mine", "off", "theirs"]);
    expect(await wordsFor(here, "call", "")).toEqual(["mine.", "demo."]);
    // What would trust the folder has only been typed.
    expect(await wordsFor(here, "--trust-workspace", "call", "")).toEqual(["mine.", "demo."]);
    expect(await wordsFor(here, "tools", "--no-workspace", "--settings", "/dev/null", "")).toEqual(["demo"]);
    expect(await wordsFor(here, "tools", "--debug=")).toEqual([
      "--debug=mine",
      "--debug=off",
      "--debug=theirs",
      "--debug=demo",
    ]);
    expect(await wordsFor(here, "mcp", "remove", "mine", "")).toEqual([]);
  });

  test("-C and ~ lead to other settings", async () => {
    await using here = await machine({
      "home/other/.gemini/settings.json": { mcpServers: { there: { command: "x" } } },
    });
    expect(await wordsFor(here, "-C", "~/other", "mcp", "get", "")).toEqual(["there"]);
    expect(await wordsFor(here, "mcp", "get", "-C", "../home/other", "")).toEqual(["there"]);
    expect(await wordsFor(here, "mcp", "get", "")).toEqual([]);
  });

  test("secrets, by name only", async () => {
    await using here = await machine();
    await here.runWith({ stdin: "canary-4711" }, "secret", "set", "TOKEN");
    expect(await ask(here, "secret", "remove", "")).toEqual(["TOKEN"]);
  });

  test("resources, prompts and what they take", async () => {
    await using here = await machine();
    expect(await wordsFor(here, "read", "")).toEqual(["demo://about", "demo://picture", "demo://knots/{name}"]);
    expect(await wordsFor(here, "read", "@")).toContain("@demo:demo://about");
    expect(await wordsFor(here, "read", "demo:demo://a")).toContain("demo:demo://about");
    expect(await ask(here, "read", "demo://knots/{name}", "--arg", "")).toEqual(["name=\trequired"]);
    expect(await wordsFor(here, "read", "--server", "demo", "--arg", "")).toEqual([]);
    expect(await ask(here, "prompt", "")).toEqual(["demo.teach\tTeach a knot"]);
    expect(await wordsFor(here, "prompt", "/")).toEqual(["/demo.teach"]);
    expect(await wordsFor(here, "prompt", "te")).toEqual(["teach"]);
    expect(await wordsFor(here, "prompt", "demo.")).toEqual(["demo.teach"]);
    expect(await wordsFor(here, "prompt", "demo:")).toEqual(["demo:teach"]);
    for (const name of ["teach", "/teach", "demo.teach", "demo:teach"])
      for (const words of [[], ["--arg"]])
        expect(await wordsFor(here, "prompt", name, ...words, "")).toEqual(["knot=", "audience="]);
  });
});

describe("calls", () => {
  const enumOf = (...values: readonly unknown[]): object => ({ enum: values });
  const inputSchema = {
    type: "object",
    properties: {
      plain: { type: "string", description: "First line.\nSecond." },
      must: { $ref: "#/$defs/must" },
      list: { type: "array", items: enumOf("a", "b") },
      any: { anyOf: [enumOf("x", 1), { type: "boolean" }, { type: "null" }] },
      files: enumOf("@home", "away"),
      "odd=name": {},
      "odd:": {},
    },
    required: ["must"],
    $defs: { must: { type: "integer", description: "how many" } },
  };

  test("parameters, what must be given first; what has been given is not offered again, unless it is a list", async () => {
    await using here = await remembering({ s: [{ name: "t", inputSchema }] });
    expect(await ask(here, "call", "s.t", "")).toEqual([
      "must=\tinteger, required, how many",
      "plain=\tstring, First line.",
      'list=\t("a" | "b")[]',
      'any=\t"x" | 1 | boolean | null',
      'files=\t"@home" | "away"',
    ]);
    expect(await wordsFor(here, "call", "s.t", "must=1", "plain:=2", "list=a", "")).toEqual([
      "list=",
      "any=",
      "files=",
    ]);
    expect(await wordsFor(here, "call", "--server", "s", "--tool", "t", "must=1", "")).toContain("plain=");
  });

  test("values, where the schema lists them", async () => {
    await using here = await remembering({ s: [{ name: "t", inputSchema }] });
    const values = (word: string): Promise<readonly string[]> => wordsFor(here, "call", "s.t", word);
    expect(await values("list=")).toEqual(["list=a", "list=b"]);
    expect(await values("any=")).toEqual(["any=x", "any=1", "any=true", "any=false"]);
    expect(await values("any:=")).toEqual(['any:="x"', "any:=1", "any:=true", "any:=false"]);
    // After a plain = it would be the name of a file.
    expect(await values("files=")).toEqual(["files=away"]);
    expect(await values("files:=")).toEqual(['files:="@home"', 'files:="away"']);
    expect(await values("plain=")).toEqual([]);
    expect(await values("unknown=")).toEqual([]);
  });

  test("tools that a filter takes out are not offered, and a server in full is no tool", async () => {
    await using here = await remembering({
      s: [
        { name: "kept", inputSchema },
        { name: "gone", inputSchema },
      ],
    });
    const settings = JSON.parse(await here.read(userFile));
    settings.mcpServers.s.excludeTools = ["gone"];
    await here.write(userFile, settings);
    await here.run("mcp", "list");
    expect(await wordsFor(here, "call", "s")).toEqual(["s.kept"]);
    expect(await wordsFor(here, "call", "s.gone", "")).toEqual([]);
    expect(await wordsFor(here, "call", "s.", "")).toEqual([]);
    expect(await wordsFor(here, "call", "https://example.com/mcp", "")).toEqual([]);
    expect(await wordsFor(here, "call", "--stdio", "x", "")).toEqual([]);
  });

  test("of very many tools those that begin like the word are offered", async () => {
    const many = Array.from({ length: 1200 }, (_, at) => ({ name: `t${at}`, inputSchema: {} }));
    await using here = await remembering({ s: many });
    expect(await wordsFor(here, "call", "s.")).toHaveLength(1000);
    expect(await wordsFor(here, "call", "s.t1199")).toEqual(["s.t1199"]);
  });
});

test("a Tab key starts no program and reaches no address, whatever is known", async () => {
  await using web = await webServer((_request, response) => void response.writeHead(500).end());
  await using here = await machine();
  await here.write(userFile, {
    mcpServers: {
      program: stdioServer("counted", join(here.path, "started")),
      forgotten: stdioServer("counted", join(here.path, "never-started")),
      address: { httpUrl: web.origin },
    },
  });
  expect((await here.run("tools", "program")).code).toBe(0);
  const before = await here.read("started");
  for (const words of [[""], ["program."], ["program.echo", ""], ["forgotten."], ["address."], ["address.x", ""]])
    await ask(here, "call", ...words);
  for (const verb of ["read", "prompt", "tools"]) await ask(here, verb, "");
  // The built command goes a way of its own.
  for (const words of [["program.echo", ""], ["forgotten."], ["address."]])
    expect((await runProcess(here, "__complete", "fish", "call", ...words)).code).toBe(0);
  expect(await here.read("started")).toBe(before);
  await expect(stat(join(here.path, "never-started"))).rejects.toThrow("ENOENT");
  expect(web.seen).toEqual([]);
});

test("the built command answers like its sources, for every shell", async () => {
  await using here = await remembering({ s: [{ name: "t", inputSchema: { properties: { a: { type: "boolean" } } } }] });
  for (const [shell, ...words] of [
    ["fish", ""],
    ["fish", "mcp", "get", ""],
    ["fish", "call", "s.t", ""],
    ["zsh", "call", "demo."],
    ["zsh", "-C", ""],
  ] as const) {
    const expected = await here.run("__complete", shell, ...words);
    expect(expected.stdout).not.toBe("");
    expect(await runProcess(here, "__complete", shell, ...words)).toEqual(expected);
  }
  const line = ["__complete", "bash", " =:@", "fairlead call s.t a=t"];
  expect(await runProcess(here, ...line)).toEqual({ code: 0, stdout: "words\ntrue\n", stderr: "" });
});

test("settings that are broken, or not there, complete to nothing and print no error", async () => {
  await using here = await machine({ [userFile]: "{ broken" });
  expect(await wordsFor(here, "mcp", "get", "")).toEqual([]);
  const nowhere = await here.run("__complete", "fish", "-C", "/nowhere/at/all", "call", "");
  expect(nowhere).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining("/nowhere/at/all") });
  expect(await here.run("__complete")).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(await here.run("__complete", "tcsh", "x")).toEqual({ code: 0, stdout: "", stderr: "" });
});
