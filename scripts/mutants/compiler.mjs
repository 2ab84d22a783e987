// Finds the mutants that the compiler refuses. `npm run check` fails with such a mutant, so no test has to fail with it.
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { applied } from "./operators.mjs";

/**
 * Returns the first `count` mutants that the compiler accepts, and how many it refused before them. `refusedOf` returns
 * the refused ones among some mutants.
 */
export function firstAccepted(mutants, count, refusedOf) {
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
 * Returns the mutants with a type error. The compiler gets each as one more file beside its source, so that it finds the
 * errors of all mutants at once.
 */
export function refusedMutants(copy, mutants, compile = filesWithTypeErrors) {
  const files = new Map(
    mutants.map((mutant, index) => [mutant.file.replace(/[.]tsx?$/, `.mutant-${index}$&`), mutant]),
  );
  try {
    for (const [file, mutant] of files)
      writeFileSync(join(copy, file), applied(readFileSync(join(copy, mutant.file), "utf8"), mutant));
    const wrong = compile(copy, new Set(mutants.map(({ file }) => file.split("/")[1])));
    return new Set([...files].filter(([file]) => wrong.has(file)).map(([, mutant]) => mutant));
  } finally {
    for (const file of files.keys()) rmSync(join(copy, file), { force: true });
  }
}

/** Compiles the sources once, because a package is checked against the compiled declarations of the others. */
export function compileDeclarations(copy) {
  tsc(copy, ["-b", "packages/cli"]);
}

function filesWithTypeErrors(copy, packages) {
  const output = [...packages].map((name) => tsc(copy, ["-p", `packages/${name}`, "--noEmit", "--pretty", "false"]));
  return new Set([...output.join("\n").matchAll(/^(packages\/[^(\n]+)\([0-9,]+\): error /gm)].map(([, file]) => file));
}

function tsc(copy, args) {
  const compiler = join(copy, "node_modules/typescript/bin/tsc");
  return spawnSync(process.execPath, [compiler, ...args], { cwd: copy, encoding: "utf8", maxBuffer: 2 ** 28 }).stdout;
}
