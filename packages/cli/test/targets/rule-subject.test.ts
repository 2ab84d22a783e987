import type { Host } from "@fairlead/core/host";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { defineSubject, readSubject, type Subject, subjectName } from "../../src/targets/rule-subject.ts";

/** The tools in the cached catalogs; `none` has no cached catalog. */
const catalogs = new Map([
  ["demo", ["greet", "b.c"]],
  ["demo.b", ["c"]],
  ["files", ["read"]],
]);

/** A host that has these catalogs after `recall`, and that connects to no server. */
function fakeHost(): Host {
  const recalled = new Set<string>();
  return {
    states: () => [...catalogs.keys(), "none"].map((name) => ({ name })),
    recall: async (names: readonly string[] = [...catalogs.keys()]) => {
      for (const name of names) recalled.add(name);
      return [];
    },
    catalog: (name: string) =>
      recalled.has(name) && catalogs.has(name)
        ? { tools: catalogs.get(name)?.map((tool) => ({ name: tool })) }
        : undefined,
    toolRegistry: {
      getTool: (word: string) =>
        recalled.has("files") && word === "read" ? { serverName: "files", serverToolName: "read" } : undefined,
    },
    start: async () => {
      throw new Error("no server is started");
    },
  } as unknown as Host;
}

/** The user has a server of the name `demo`, so the built-in one is not meant. */
const configuration = {
  servers: [{ server: { name: "demo", origin: { file: "/s.json" } }, admission: { status: "admitted" } }],
} as unknown as Configuration;

async function read(line: string): Promise<Subject | object> {
  const command = new Command();
  defineSubject(command);
  command.exitOverride().parse(
    line.split(" ").filter((word) => word !== ""),
    { from: "user" },
  );
  return readSubject(fakeHost(), configuration, { command, operands: command.args }).catch(
    (error: unknown) => error as object,
  );
}

describe("a rule is for the tool that is named", () => {
  test.each<[line: string, subject: Omit<Subject, "kind">]>([
    ["files.read", { server: "files", tool: "read", found: "tool" }],
    ["files.write", { server: "files", tool: "write", found: "server" }],
    ["none.x", { server: "none", tool: "x", found: "entry" }],
    ["elsewhere.x.y", { server: "elsewhere", tool: "x.y", found: "nothing" }],
    ["read", { server: "files", tool: "read", found: "tool" }],
    ["--server files --tool read", { server: "files", tool: "read", found: "tool" }],
    ["--server files --tool write", { server: "files", tool: "write", found: "server" }],
    ["--server none --tool x", { server: "none", tool: "x", found: "entry" }],
    ["--server elsewhere --tool x", { server: "elsewhere", tool: "x", found: "nothing" }],
    ["files.read --client codex", { server: "files", tool: "read", found: "tool", client: "codex" }],
  ])("%s", async (line, subject) => {
    expect(await read(line)).toEqual({ kind: "tool", ...subject });
  });
});

describe("a rule for another kind of request is for one or for all of them", () => {
  test.each<[line: string, subject: Subject]>([
    ["--kind prompt files", { server: "files", tool: "*", kind: "prompt", found: "entry" }],
    ["--kind prompt files.*", { server: "files", tool: "*", kind: "prompt", found: "entry" }],
    ["--kind prompt files.ask", { server: "files", tool: "ask", kind: "prompt", found: "entry" }],
    ["--kind prompt demo.b.ask", { server: "demo.b", tool: "ask", kind: "prompt", found: "entry" }],
    ["--kind prompt elsewhere.a.b", { server: "elsewhere", tool: "a.b", kind: "prompt", found: "nothing" }],
    ["--kind prompt --server files --tool ask", { server: "files", tool: "ask", kind: "prompt", found: "entry" }],
    ["--kind prompt --server files", { server: "files", tool: "*", kind: "prompt", found: "entry" }],
    ["--kind resource files.x://a", { server: "files", tool: "x://a", kind: "resource", found: "entry" }],
    ["--kind sampling files", { server: "files", tool: "*", kind: "sampling", found: "entry" }],
    ["--kind sampling files.*", { server: "files", tool: "*", kind: "sampling", found: "entry" }],
  ])("%s", async (line, subject) => {
    expect(await read(line)).toEqual(subject);
  });

  test("all resources are every URI", async () => {
    const subject = await read("--kind resource files");
    expect(subject).toMatchObject({ server: "files", kind: "resource", found: "entry" });
    expect(subjectName(subject as Subject)).toBe("resources of files");
  });
});

describe("a mistake is refused with the reason", () => {
  test.each<[line: string, message: string, next?: string]>([
    ["", "the tool's name is missing", "fairlead tools"],
    ["nonsense", '"nonsense" is not of the form server.tool', "fairlead tools"],
    [".x", '".x" is not of the form server.tool', "fairlead tools"],
    ["elsewhere.", '"elsewhere." is not of the form server.tool', "fairlead tools"],
    ["--server files", "--server and --tool must be given together"],
    ["--tool read", "--server and --tool must be given together"],
    ["files.read --server files --tool read", '"files.read" and --server/--tool both name a tool: give only one'],
    [
      "demo.b.c",
      '"demo.b.c" is ambiguous: more than one tool matches',
      "use --server demo.b --tool c or --server demo --tool b.c",
    ],
    ["files.read --client=", "--client must not be empty", "fairlead policy list"],
    ["--kind prompt", "no server is given", "fairlead mcp list"],
    ["--kind prompt --tool ask", "--server and --tool must be given together"],
    ["--kind prompt files --server files", '"files" and --server/--tool both name a prompt: give only one'],
    ["--kind resource files --tool x", '"files" and --server/--tool both name a resource: give only one'],
    ["--kind sampling files.x", '--kind sampling takes a server, not "files.x"'],
  ])("%j", async (line, message, next) => {
    const { code, message: told, next: advice } = (await read(line)) as Error & { code?: string; next?: string };
    expect({ code, message: told, next: advice }).toEqual({ code: "usage", message, next });
  });
});

test.each([
  [{ server: "s", tool: "t" }, "s.t"],
  [{ server: "s", tool: "*", kind: "tool" }, "s.*"],
  [{ server: "s", tool: "*", kind: "prompt" }, "prompts of s"],
  [{ server: "s", tool: "*", kind: "sampling" }, "sampling of s"],
  [{ server: "s", tool: "x://a", kind: "resource" }, "resource s.x://a"],
] as const)("%j is called %s", (subject, name) => {
  expect(subjectName(subject)).toBe(name);
});
