import type { HostTool } from "@fairlead/core/host";
import type { Problem, SettingsFile } from "@fairlead/core/settings/define/definition";
import type { Locations } from "@fairlead/core/settings/read/paths";
import { safe } from "@fairlead/core/text/safe-text";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust/configuration";
import { describe, expect, test } from "vitest";
import { createOverview, type Overview, overviewText } from "../../../src/commands/start.ts";
import { marked, plain } from "../../support/plain-style.ts";
import { configured } from "../../support/server-definition.ts";

const admitted = { status: "admitted" } as const;
const waiting = { status: "blocked", reason: "awaiting_approval", message: "m", next: "n" } as const;

function server(name: string, admission: AdmittedServer["admission"] = admitted): AdmittedServer {
  const origin = { scope: "user", file: "/home/me/settings.json", line: 7, column: 5 } as const;
  return { server: configured({ name, origin }), admission };
}

const demo = (serverToolName: string, required: readonly string[] = []): HostTool => ({
  name: serverToolName,
  server: "demo",
  serverToolName,
  description: "",
  parametersJsonSchema: {},
  repairs: [],
  inputSchema: { type: "object", properties: { who: { type: "string" } }, required: [...required] },
});

const bare: Overview = {
  workspace: { root: "/home/me/project", rootFrom: "git", trusted: true, because: "a rule\u001b" },
  files: [],
  servers: [],
  demoTools: [],
  problems: [],
  next: [{ command: "fairlead --help", purpose: "everything else" }],
};

const shown = (given: Partial<Overview>, style = plain): readonly string[] =>
  overviewText({ ...bare, ...given }, { home: "/home/me", style, command: safe`npx --no -- fairlead` }).split("\n");

const head = ["Fairlead connects a model to MCP servers and checks every call between them.", ""];
const found = [
  "Found here (no server was started)",
  "  workspace  ~/project        trusted: a rule␛",
  "  servers    none configured",
  "",
];
const next = ["Next", "  fairlead --help  everything else"];

describe("the overview shows the user", () => {
  test("only the sections that have lines", () => {
    expect(shown({})).toEqual([...head, ...found, ...next]);
  });

  test("the settings files and the workspace, with their states, and a missing system file not at all", () => {
    const files: SettingsFile[] = [
      { scope: "system-defaults", file: "/etc/defaults.json", state: "absent" },
      { scope: "workspace", file: "/home/me/project/.gemini/settings.json", state: "ignored" },
      { scope: "user", file: "/home/me/.gemini/settings.json", state: "absent" },
      { scope: "system", file: "/etc/settings.json", state: "broken" },
      { scope: "workspace", file: "/home/me/project/more.json", state: "read" },
      { scope: "workspace", file: "/home/me/project/gone.json", state: "absent" },
    ];
    const workspace = { ...bare.workspace, trusted: false, because: "no rule" };
    expect(shown({ files, workspace }, marked).slice(2)).toEqual([
      "<bold>Found here (no server was started)</>",
      "  user settings       ~/.gemini/settings.json  <dim>not found</>",
      "  system settings     /etc/settings.json       <red>broken, ignored</>",
      "  workspace           ~/project                <yellow>not trusted</>: no rule",
      "  workspace settings  .gemini/settings.json    <yellow>ignored: the workspace is not trusted</>",
      "  workspace settings  more.json                <green>read</>",
      "  workspace settings  gone.json                <dim>not found</>",
      "  servers             none configured",
      "",
      "<bold>Next</>",
      "  <cyan>fairlead --help</>  everything else",
    ]);
  });

  test("the servers with their transport, state and position", () => {
    expect(shown({ servers: [server("a\u001b"), server("longer", waiting)] }, marked).slice(2)).toEqual([
      "<bold>Found here (no server was started)</>",
      "  workspace  ~/project  <green>trusted</>: a rule␛",
      "",
      "<bold>Servers</>",
      "  a␛      stdio  <green>ready to start</>               <dim>~/settings.json:7</>",
      "  longer  stdio  <yellow>blocked: awaiting approval</>  <dim>~/settings.json:7</>",
      "",
      "<bold>Next</>",
      "  <cyan>fairlead --help</>  everything else",
    ]);
  });

  test("at most ten servers", () => {
    const servers = Array.from({ length: 12 }, (_, at) => server(`s${at}`));
    const rows = (many: number): readonly string[] => {
      const lines = shown({ servers: servers.slice(0, many) });
      return lines.slice(lines.indexOf("Servers") + 1, lines.indexOf("Next") - 1);
    };
    const ten = servers.slice(0, 10).map((_, at) => `  s${at}  stdio  ready to start  ~/settings.json:7`);
    expect(rows(10)).toEqual(ten);
    expect(rows(11)).toEqual([...ten, "  and 1 more: npx --no -- fairlead mcp list"]);
    expect(rows(12)).toEqual([...ten, "  and 2 more: npx --no -- fairlead mcp list"]);
  });

  test("at most five problems of single entries, and none of whole files", () => {
    const problem = (message: string, given: Partial<Problem> = {}): Problem => {
      return { severity: "error", code: "settings_invalid", message, serverName: "s", ...given };
    };
    const { serverName: _none, ...file } = problem("a whole file");
    const problems = Array.from({ length: 7 }, (_, at) => problem(`p${at}`));
    const rows = (given: readonly Problem[]): readonly string[] => {
      const lines = shown({ problems: given });
      return lines.slice(lines.indexOf("Problems") + 1, lines.indexOf("Next") - 1);
    };
    const five = problems.slice(0, 5).map((_, at) => `error: p${at}`);
    expect(shown({ problems: [file] })).toEqual([...head, ...found, ...next]);
    expect(rows([file, ...problems.slice(0, 5)])).toEqual(five);
    expect(rows(problems.slice(0, 6))).toEqual([...five, "and 1 more: npx --no -- fairlead settings validate"]);
    expect(rows([...problems, file])).toEqual([...five, "and 2 more: npx --no -- fairlead settings validate"]);
    expect(rows([problem("p", { severity: "warning", next: "fairlead mcp list" })])).toEqual([
      "warning: p",
      "  next: npx --no -- fairlead mcp list",
    ]);
  });

  test("the demo server's tools on one line, and the next commands aligned", () => {
    const suggestions = [
      { command: "fairlead a", purpose: "one" },
      { command: "fairlead longer", purpose: "two\u001b" },
    ];
    expect(shown({ demoTools: [demo("greet\u001b"), demo("add")], next: suggestions }, marked).slice(-6)).toEqual([
      "<bold>Built-in demo server</>",
      "  <cyan>demo</>: greet␛, add",
      "",
      "<bold>Next</>",
      "  <cyan>fairlead a     </>  one",
      "  <cyan>fairlead longer</>  two␛",
    ]);
  });
});

describe("the overview has", () => {
  const locations = { root: "/r", rootFrom: "git", files: { workspace: "/r/.gemini/settings.json" } } as Locations;
  const files: readonly SettingsFile[] = [{ scope: "user", file: "/u.json", state: "read" }];
  const problem: Problem = { severity: "warning", code: "settings_invalid", message: "m" };

  function overview(given: Partial<Configuration> = {}, demoTools: readonly HostTool[] = []): Overview {
    const trust = { trusted: true, source: "flag", approvesEntries: false, detail: "--trust-workspace" } as const;
    const settings = { files } as Configuration["settings"];
    const configuration = { locations, settings, trust, servers: [], problems: [], ...given } as Configuration;
    return createOverview(configuration, demoTools, "npx --no -- fairlead", "time uvx mcp-server-time");
  }

  const always = [
    ["npx --no -- fairlead mcp import", "copy other programs' servers"],
    ["npx --no -- fairlead mcp add -s user time uvx mcp-server-time", "add a server"],
    ["npx --no -- fairlead --help", "everything else"],
  ];
  const suggested = (...given: Parameters<typeof overview>): readonly (readonly string[])[] =>
    overview(...given).next.map(({ command, purpose }) => [command, purpose]);

  test("the facts of the configuration", () => {
    const servers = [server("a")];
    const tools = [demo("greet")];
    const { next: _next, ...facts } = overview({ servers, problems: [problem] }, tools);
    expect(facts).toEqual({
      workspace: { root: "/r", rootFrom: "git", trusted: true, because: "--trust-workspace" },
      files,
      servers,
      demoTools: tools,
      problems: [problem],
    });
  });

  test("the commands that make sense here, in a fixed order", () => {
    expect(suggested()).toEqual(always);
    const servers = [server("a"), server("b", waiting)];
    expect(suggested({ servers, problems: [problem] }, [demo("greet", ["who"]), demo("add")])).toEqual([
      ["npx --no -- fairlead tools demo", "list the demo server's tools"],
      ["npx --no -- fairlead call demo.greet who=text", "call a tool of the demo server"],
      ["npx --no -- fairlead trust add", "review and approve this folder's servers"],
      ["npx --no -- fairlead settings validate", "show the problems in the settings"],
      ["npx --no -- fairlead mcp list", "show your servers"],
      ...always,
    ]);
  });

  test("the scope of the user where there is no project", () => {
    const add = ["npx --no -- fairlead mcp add -s user time uvx mcp-server-time", "add a server"];
    expect(suggested({ locations: { ...locations, rootFrom: "cwd" } })[1]).toEqual(add);
    expect(suggested({ locations: { ...locations, files: {} as Locations["files"] } })[1]).toEqual(add);
  });

  test.each([
    ["awaiting_approval", true],
    ["untrusted_folder", true],
    ["not_allowed", false],
    ["excluded", false],
  ] as const)("for a server that is blocked (%s) a suggestion to trust the folder: %s", (reason, isSuggested) => {
    const servers = [server("b", { status: "blocked", reason, message: "m", next: "n" })];
    const commands = suggested({ servers }).map(([command]) => command);
    expect(commands.includes("npx --no -- fairlead trust add")).toBe(isSuggested);
  });
});
