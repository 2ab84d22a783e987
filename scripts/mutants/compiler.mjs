// Finds the mutants that the compiler refuses. `npm run check` fails with such a mistake, so no test has to notice it.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { applied } from "./operators.mjs";

/**
 * Returns the first `count` mutants that the compiler accepts, and how many it refused before them. `refusedOf` returns
 * the refused ones among some mutants.
 */
export function accepted(mutants, count, refusedOf) {
  const chosen = [];
  let refused = 0;
  for (let from = 0; chosen.length < count && from < mutants.length; from += count) {
    const some = mutants.slice(from, from + count);
    const wrong = refusedOf(some);
    for (const mutant of some) {
      if (chosen.length === count) break;
      if (wrong.has(mutant)) refused += 1;
      else chosen.push(mutant);
    }
  }
  return { chosen, refused };
}

/**
 * Returns the mutants with a type error in their file. The exports of the sources have declared types, so a mutant does
 * not change the types of other files, and the mutants of many files are compiled together: one of each file at a time.
 */
export function refusedMutants(copy, mutants, compile = () => filesWithTypeErrors(copy)) {
  const refused = new Set();
  let left = mutants;
  while (left.length > 0) {
    const byFile = new Map(left.toReversed().map((mutant) => [mutant.file, mutant]));
    const sources = new Map([...byFile.keys()].map((file) => [file, readFileSync(join(copy, file), "utf8")]));
    for (const [file, mutant] of byFile) writeFileSync(join(copy, file), applied(sources.get(file), mutant));
    try {
      for (const file of compile()) if (byFile.has(file)) refused.add(byFile.get(file));
    } finally {
      for (const [file, source] of sources) writeFileSync(join(copy, file), source);
    }
    left = left.filter((mutant) => byFile.get(mutant.file) !== mutant);
  }
  return refused;
}

/** Compiles the sources once, because a package is checked against the compiled declarations of the others. */
export function compileDeclarations(copy) {
  tsc(copy, ["-b", "packages/cli"]);
}

function filesWithTypeErrors(copy) {
  const output = ["wire", "core", "gateway", "cli"].map((name) =>
    tsc(copy, ["-p", `packages/${name}`, "--noEmit", "--pretty", "false"]),
  );
  return new Set([...output.join("\n").matchAll(/^(packages\/[^(\n]+)\([0-9,]+\): error /gm)].map(([, file]) => file));
}

function tsc(copy, args) {
  const compiler = join(copy, "node_modules/typescript/bin/tsc");
  return spawnSync(process.execPath, [compiler, ...args], { cwd: copy, encoding: "utf8" }).stdout;
}
