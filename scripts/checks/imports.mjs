/*
 * Checks the import rule. Also fails if too few modules were read, because a checker without its parser would find no
 * violation.
 */
import { pathToFileURL } from "node:url";
import { cruise } from "dependency-cruiser";
import { forbidden, options } from "./layers.mjs";
import { nodesOf, resolved, sourcePaths, specifierOf } from "./sources.mjs";

/** Returns the violations below `baseDir`, as `from → to (rule)`, and the number of modules. */
export async function checkImports(baseDir, paths = ["packages"]) {
  const { output } = await cruise(paths, { ...options, baseDir, ruleSet: { forbidden }, validate: true });
  const violations = [];
  for (const { from, to, rule, cycle = [] } of output.summary.violations) {
    const isOrder = rule.name.endsWith("-points-left") || rule.name === "no-cycles";
    const steps = cycle.length === 0 ? [from, to] : [from, ...cycle.map(({ name }) => name)];
    if (!isOrder || !(await hasTypeStep(baseDir, steps))) violations.push(`${from} → ${to} (${rule.name})`);
  }
  return {
    modules: output.summary.totalCruised,
    violations: [...violations, ...(await checkJsx(baseDir))],
  };
}

/** Whether a file in the chain imports only types of the next one. Such an import is gone when the program runs. */
async function hasTypeStep(baseDir, steps) {
  for (const [index, to] of steps.slice(1).entries()) {
    const from = steps[index];
    const nodes = (await nodesOf(baseDir, from)).filter((node) => resolved(specifierOf(node), from) === to);
    if (nodes.length > 0 && nodes.every((node) => node.typeOnly === true || node.type === "TsImportType")) return true;
  }
  return false;
}

/**
 * Reads the imports of .tsx files, because dependency-cruiser's parser does not support JSX, and checks them against
 * the same rules. The linter finds cycles through these files.
 */
async function checkJsx(baseDir) {
  const violations = [];
  for (const from of await sourcePaths(baseDir, [".tsx"]))
    for (const node of await nodesOf(baseDir, from)) {
      const to = resolved(specifierOf(node), from);
      if (to === undefined) continue;
      const broken = forbidden.filter((rule) => matches(rule.from, from) && isAbout(rule.to) && matches(rule.to, to));
      violations.push(...broken.map(({ name }) => `${from} → ${to} (${name})`));
    }
  return violations;
}

/** The rules about paths, without the rules about cycles and missing modules. */
function isAbout({ path }) {
  return path !== undefined;
}

function matches({ path, pathNot }, file) {
  const is = (pattern) => new RegExp(pattern).test(file);
  return (path === undefined || [path].flat().some(is)) && !(pathNot !== undefined && [pathNot].flat().some(is));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { modules, violations } = await checkImports(process.cwd());
  for (const violation of violations) process.stdout.write(`${violation}\n`);
  process.stdout.write(`imports: ${modules} modules, ${violations.length} violations\n`);
  if (violations.length > 0 || modules < 20) process.exitCode = 1;
}
