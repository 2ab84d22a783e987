import { parseVariables, renderer } from "@fairlead/core/settings/define/expand";
import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { convertReferences, resolveVariableReferences } from "../../src/import/field-reader.ts";
import { type Program, programNames, type Remark } from "../../src/import/program.ts";

function convert(text: string, program: Program): { text: string; remarks: Remark[] } {
  const remarks: Remark[] = [];
  const context = { program, platform: "linux", root: "/r", inputs: new Map() } as const;
  return { text: convertReferences(text, "key", context, (remark) => remarks.push(remark)), remarks };
}

const pieces = [
  "$",
  "$$",
  "{",
  "}",
  "${",
  "${A}",
  "$A",
  "${A:-b}",
  "${env:A}",
  "${input:a}",
  "${userHome}",
  "${secret:A}",
  "a",
  " ",
];
const text = fc.oneof(
  fc.string(),
  fc.array(fc.constantFrom(...pieces)).map((parts) => parts.join("")),
);

test.each(["claude-desktop", "codex"] as const)("whatever was literal in %s arrives as it was", (program) => {
  fc.assert(
    fc.property(text, (written) => {
      expect(renderer(new Map())(convert(written, program).text)).toBe(written);
    }),
    { numRuns: scaled(10_000), seed: seed() },
  );
});

test.each(programNames)("whatever %s writes becomes text that can be expanded", (program) => {
  fc.assert(
    fc.property(text, (written) => {
      expect(parseVariables(convert(written, program).text).kind).toBe("parts");
    }),
    { numRuns: scaled(10_000), seed: seed() },
  );
});

test.each([
  ["vscode", "${secret:OURS}"],
  ["cursor", "${secret:OURS}"],
  ["claude-code", "${secret:OURS}"],
  ["windsurf", "${secret:OURS}"],
] as const)("a foreign file cannot reach the secret store by our own words: %s", (program, written) => {
  expect(convert(written, program).text).toBe("$${secret:OURS}");
});

test("the references of a path come to what they stand for", () => {
  const values = { env: { DIR: "/d" }, home: "/home/me", folder: "/app" };
  expect(resolveVariableReferences("${workspaceFolder}/${userHome}/${env:DIR}/${env:NONE}/${x}", values)).toBe(
    "/app//home/me//d//${x}",
  );
});
