import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { firstAccepted, refusedMutants } from "../../mutants/compiler.mjs";
import { mutantsOf } from "../../mutants/operators.mjs";

test("a mutant that the compiler refuses is replaced by the next one, if there is one", () => {
  const odd = (numbers) => new Set(numbers.filter((number) => number % 2 === 1));
  expect(firstAccepted([1, 2, 3, 4, 5, 6, 7, 8], 3, odd)).toEqual({ chosen: [2, 4, 6], refused: 3 });
  expect(firstAccepted([1, 2, 3], 3, odd)).toEqual({ chosen: [2], refused: 2 });
});

test("the compiler gets each mutant as a file beside its source, and these files are removed afterwards", () => {
  const folder = mkdtempSync(join(tmpdir(), "compiler-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "packages/wire"), { recursive: true });
  const sources = { "packages/wire/a.ts": "if (true) b('x');", "packages/wire/c.tsx": "const d = 'e';" };
  for (const [file, source] of Object.entries(sources)) writeFileSync(join(folder, file), source);
  const mutants = Object.entries(sources).flatMap(([file, source]) => mutantsOf(file, source));
  const seen = {};
  const refused = refusedMutants(folder, mutants, (copy, packages) => {
    expect([copy, ...packages]).toEqual([folder, "wire"]);
    for (const name of readdirSync(join(folder, "packages/wire")))
      seen[name] = readFileSync(join(folder, "packages/wire", name), "utf8");
    return new Set(
      Object.keys(seen)
        .filter((name) => seen[name].includes('""'))
        .map((name) => `packages/wire/${name}`),
    );
  });
  expect(seen).toEqual({
    "a.ts": "if (true) b('x');",
    "a.mutant-0.ts": "if (!(true)) b('x');",
    "a.mutant-1.ts": "if (false) b('x');",
    "a.mutant-2.ts": "if (true) ;",
    "a.mutant-3.ts": 'if (true) b("");',
    "c.tsx": "const d = 'e';",
    "c.mutant-4.tsx": 'const d = "";',
  });
  expect([...refused].map(({ file, replacement }) => [file, replacement])).toEqual([
    ["packages/wire/a.ts", '""'],
    ["packages/wire/c.tsx", '""'],
  ]);
  expect(readdirSync(join(folder, "packages/wire"))).toEqual(["a.ts", "c.tsx"]);
});
