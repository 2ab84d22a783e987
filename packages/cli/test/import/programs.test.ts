import { expect, test } from "vitest";
import { isProgram, type Program, programNames } from "../../src/import/program.ts";
import { convert } from "../support/conversions.ts";

const references = {
  "${A}": "variable",
  "${env:A}": "env",
  "${userHome}": "userHome",
  "${workspaceFolder}": "workspaceFolder",
  "${/}": "pathSeparator",
  "${input:a}": "input",
  "${cwd}": "foreign",
};

/** The forms of references that the conversion does not take for plain text. */
function expandedBy(program: Program): readonly string[] {
  return Object.entries(references).flatMap(([text, form]) => {
    const { remarks } = convert({ program, value: { command: "x", args: [text] } });
    return remarks.some(({ message }) => message.includes("does not expand")) ? [] : [form];
  });
}

const own = ["env", "userHome", "workspaceFolder", "pathSeparator"];

const variables = ["variable", "userHome", "workspaceFolder", "foreign"];

/** The last column: whether `timeout` is a number of milliseconds, or how many milliseconds its unit has. */
test.each<[Program, string, readonly string[], object, boolean | number]>([
  ["claude-desktop", "Claude Desktop", [], { type: "http" }, false],
  // For Claude Code, every name in braces is the name of a variable.
  ["claude-code", "Claude Code", variables, { type: "http" }, true],
  ["cursor", "Cursor", [...own, "foreign"], {}, false],
  ["vscode", "VS Code", [...own, "input", "foreign"], {}, false],
  ["windsurf", "Windsurf", ["env", "foreign"], {}, false],
  ["codex", "Codex", [], { type: "http" }, false],
  ["zed", "Zed", [], { type: "http" }, false],
  ["opencode", "opencode", ["env", "foreign"], {}, false],
  ["antigravity", "Antigravity", [], {}, false],
  ["copilot-cli", "GitHub Copilot CLI", variables, { type: "http" }, true],
  ["kiro", "Kiro", variables, {}, true],
  ["cline", "Cline", ["env"], { type: "http" }, 1000],
  ["cline-cli", "Cline CLI", ["env"], { type: "http" }, 1000],
  ["kilo", "Kilo", ["env", "foreign"], {}, false],
  ["goose", "goose", variables, { type: "http" }, 1000],
  ["grok", "Grok Build", variables, {}, false],
  ["kimi", "Kimi Code", [], { type: "http" }, false],
  ["mcporter", "mcporter", variables, {}, false],
  ["pi", "Pi", variables, {}, false],
])("an import reads a file as %s (%s) does", (program, title, expanded, http, hasTimeout) => {
  expect(expandedBy(program)).toEqual(expanded);
  const [remark] = convert({ program, value: { command: "x", args: ["${a b}"] } }).remarks;
  expect(remark?.message).toBe(`${title} does not expand \${a b}, so it stays plain text: $\${a b}`);
  const url = "https://h.example/mcp";
  expect(convert({ program, value: { type: "http", url } }).entry).toEqual({ url, ...http });
  expect(convert({ program, value: { command: "x", timeout: 7 } }).entry).toEqual({
    command: "x",
    ...(hasTimeout !== false && { timeout: 7 * Number(hasTimeout) }),
  });
});

test("only the exact names of supported programs are accepted", () => {
  expect(programNames.every(isProgram)).toBe(true);
  expect(["Cursor", "", "toString"].map(isProgram)).toEqual([false, false, false]);
});
