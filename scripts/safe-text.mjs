// Fails on a cast to `SafeText` outside core's `text/`, because only the code there makes text safe to print.
import { pathToFileURL } from "node:url";
import { nodesOf, sourcePaths } from "./sources.mjs";

const maker = "packages/core/src/text/";
const casts = new Map([
  ["TsAsExpression", ({ typeAnnotation }) => typeAnnotation],
  ["TsTypeAssertion", ({ typeAnnotation }) => typeAnnotation],
  // A type guard has the same effect as a cast.
  ["TsTypePredicate", ({ typeAnnotation }) => typeAnnotation],
]);

/** Returns the files below `baseDir` with casts, each listed once for each cast, and the number of files. */
export async function checkSafeText(baseDir) {
  const paths = (await sourcePaths(baseDir)).filter((path) => !path.startsWith(maker));
  const violations = [];
  for (const path of paths) {
    const nodes = await nodesOf(baseDir, path);
    const names = new Set(["SafeText"]);
    for (const { type, imported, local } of nodes)
      if (type === "ImportSpecifier" && imported?.value === "SafeText") names.add(local.value);
    const made = nodes.filter((node) => mentions(casts.get(node.type)?.(node), names));
    violations.push(...made.map(() => `${path}: a cast to SafeText; use the functions of core's text/safe-text.ts`));
  }
  return { files: paths.length, violations };
}

function mentions(node, names) {
  if (typeof node !== "object" || node === null) return false;
  if (node.type === "Identifier" && names.has(node.value)) return true;
  return Object.values(node).some((inner) => mentions(inner, names));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { files, violations } = await checkSafeText(process.cwd());
  for (const violation of violations) process.stdout.write(`${violation}\n`);
  process.stdout.write(`SafeText: ${files} files, ${violations.length} casts\n`);
  if (violations.length > 0 || files < 20) process.exitCode = 1;
}
