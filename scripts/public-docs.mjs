// Fails on an export of core's `index.ts` whose declaration has no TSDoc comment.
import { readFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { pathToFileURL } from "node:url";

const entry = "packages/core/src/index.ts";
const reexport = /^export (?:type )?(?:\{([^}]*)\}|\*) from "([^"]+)";/gm;

/** Returns the exports without TSDoc, as `name (file)`, and the number of exports. */
export async function checkPublicDocs(baseDir) {
  const exported = (await reexportsOf(baseDir, entry)).filter(({ name }) => name !== "*");
  const violations = [];
  for (const { name, path } of exported) {
    const found = await declarationOf(baseDir, path, name);
    if (!found?.isDocumented) violations.push(`${name} (${found?.path ?? path}): no TSDoc on its declaration`);
  }
  return { exports: exported.length, violations };
}

async function reexportsOf(baseDir, path) {
  const text = await readFile(join(baseDir, path), "utf8");
  return [...text.matchAll(reexport)].flatMap(([, list = "*", source]) =>
    list
      .split(",")
      .map((item) => item.trim().replace(/^type /, ""))
      .filter((item) => item !== "")
      .map((item) => {
        const [name, alias = name] = item.split(" as ");
        return { name, alias, path: resolved(source, path) };
      }),
  );
}

function resolved(source, from) {
  if (source.startsWith(".")) return posix.join(dirname(from), source);
  return source.replace(/^@fairlead\/([a-z-]+)$/, "packages/$1/src/index.ts");
}

/** Returns where a name is declared, also through files that only re-export it. */
async function declarationOf(baseDir, path, name) {
  const text = await readFile(join(baseDir, path), "utf8");
  const declared = new RegExp(
    `^export (?:declare |abstract |async )*(?:interface|class|function\\*?|const|type|enum) ${name}\\b`,
    "m",
  ).exec(text);
  if (declared !== null) return { path, isDocumented: hasDoc(text.slice(0, declared.index)) };
  for (const next of await reexportsOf(baseDir, path)) {
    if (next.alias !== name && next.name !== "*") continue;
    const found = await declarationOf(baseDir, next.path, next.name === "*" ? name : next.name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Whether the declaration has its own comment, which is on the line before. A comment of the file has an empty line
 * after it.
 */
function hasDoc(before) {
  return before.endsWith("*/\n") && before.slice(before.lastIndexOf("/*")).startsWith("/**");
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { exports, violations } = await checkPublicDocs(process.cwd());
  for (const violation of violations) process.stdout.write(`${violation}\n`);
  process.stdout.write(`public docs: ${exports} exports, ${violations.length} without TSDoc\n`);
  if (violations.length > 0 || exports < 20) process.exitCode = 1;
}
