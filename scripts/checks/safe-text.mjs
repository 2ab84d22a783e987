// Fails on a cast to `SafeText` outside core's `text/`, because only the code there makes text safe to print. Another name for the type, and
// a cast to the type of a function's result, are refused too, because both can hide such a cast.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { nodesOf, sourcePaths } from "./sources.mjs";

const maker = "packages/core/src/text/";
const textModule = /^(?:@fairlead\/core|[./]+)\/text(?:\/|$)/;
// A type guard has the same effect as a cast.
const casts = new Set(["TsAsExpression", "TsTypeAssertion", "TsTypePredicate"]);
/** The types that TypeScript derives from a function. */
const derived = new Set(["ReturnType", "Parameters", "ConstructorParameters", "InstanceType", "Awaited"]);
/** Every violation contains one of these words. Only files with such a word are parsed, which saves time. */
const telling = new RegExp(["SafeText", "typeof", ...derived].join("|"));
/** An alias for a type of these kinds is another type than `SafeText`: it only has `SafeText` in its parts. */
const composed = new Set(["TsFunctionType", "TsConstructorType", "TsTypeLiteral"]);

/** Returns the files below `baseDir` with violations, each listed once for each violation, and the number of files. */
export async function checkSafeText(baseDir) {
  const paths = (await sourcePaths(baseDir)).filter((path) => !path.startsWith(maker));
  const violations = [];
  for (const path of paths) {
    if (!telling.test(await readFile(join(baseDir, path), "utf8"))) continue;
    const nodes = await nodesOf(baseDir, path);
    const names = namesIn(nodes);
    const found = nodes.map((node) => problemOf(node, names)).filter((problem) => problem !== undefined);
    violations.push(...found.map((problem) => `${path}: ${problem}; use the functions of core's text/safe-text.ts`));
  }
  return { files: paths.length, violations };
}

/** Returns the names that `SafeText` has in a file, and the names of everything that the file imports from `text/`. */
function namesIn(nodes) {
  const safe = new Set(["SafeText"]);
  const imported = new Set();
  for (const { type, source, specifiers } of nodes) {
    if (type !== "ImportDeclaration") continue;
    for (const { imported: original, local } of specifiers) {
      if (original?.value === "SafeText") safe.add(local.value);
      if (textModule.test(source.value)) imported.add(local.value);
    }
  }
  return { safe, imported };
}

function problemOf(node, { safe, imported }) {
  const { type, typeAnnotation, orig, exported } = node;
  const isSafe = ({ type: kind, value }) => kind === "Identifier" && safe.has(value);
  if (casts.has(type)) {
    if (contains(typeAnnotation, isSafe)) return "a cast to SafeText";
    return contains(typeAnnotation, isDerived, isKeyOf) ? "a cast to a type that is derived from a value" : undefined;
  }
  if (type === "TsTypeAliasDeclaration") {
    const isResult = (part) => part.type === "TsTypeQuery" && contains(part, ({ value }) => imported.has(value));
    const isAlias = (part) => isSafe(part) || isResult(part);
    return contains(typeAnnotation, isAlias, ({ type: kind }) => composed.has(kind)) ? aliasProblem : undefined;
  }
  return type === "ExportSpecifier" && isSafe(orig) && (exported ?? orig).value !== "SafeText"
    ? aliasProblem
    : undefined;
}

const aliasProblem = "another name for SafeText";

/** Whether a part of a type is `typeof value`, or the type of a function's result or parameters. */
function isDerived({ type, value }) {
  return type === "TsTypeQuery" || (type === "Identifier" && derived.has(value));
}

/** Whether a part of a type is `keyof …`, which gives names of members only. */
function isKeyOf({ type, op }) {
  return type === "TsTypeOperator" && op === "keyof";
}

/** Whether the tree has a node that fits. Does not look into the nodes that `isLeftOut` names. */
function contains(node, fits, isLeftOut = () => false) {
  if (typeof node !== "object" || node === null || isLeftOut(node)) return false;
  return fits(node) || Object.values(node).some((inner) => contains(inner, fits, isLeftOut));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { files, violations } = await checkSafeText(process.cwd());
  for (const violation of violations) process.stdout.write(`${violation}\n`);
  process.stdout.write(`SafeText: ${files} files, ${violations.length} violations\n`);
  if (violations.length > 0 || files < 20) process.exitCode = 1;
}
