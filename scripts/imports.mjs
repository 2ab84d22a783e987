// Checks the import rule. Fails as well when suspiciously few modules were read: a cruiser without its parser finds no fault in nothing.
import { pathToFileURL } from "node:url";
import { cruise } from "dependency-cruiser";
import { forbidden, options } from "./layers.mjs";

/** The violations below `baseDir`, as `from → to (rule)`, and how many modules were read. */
export async function checkImports(baseDir, paths = ["packages"]) {
  const { output } = await cruise(paths, { ...options, baseDir, ruleSet: { forbidden }, validate: true });
  return {
    modules: output.summary.totalCruised,
    violations: output.summary.violations.map(({ from, to, rule }) => `${from} → ${to} (${rule.name})`),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { modules, violations } = await checkImports(process.cwd());
  for (const violation of violations) process.stdout.write(`${violation}\n`);
  process.stdout.write(`imports: ${modules} modules, ${violations.length} violations\n`);
  if (violations.length > 0 || modules < 20) process.exitCode = 1;
}
