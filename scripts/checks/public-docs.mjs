// Fails on a public name of core whose declaration in the sources has no TSDoc comment. The compiled declarations cannot tell: they lose the
// empty line between the comment of a file and the first declaration.
import { join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { createReader } from "../declarations.mjs";

const entries = ["index.ts", "testing.ts", "text/index.ts"];

/** Returns the exports without TSDoc, as `name (file)`, and the number of exports. */
export function checkPublicDocs(baseDir, files = entries) {
  const sources = (name) => join(baseDir, "packages", name, "src");
  const reader = createReader(new Map([["@fairlead/wire", join(sources("wire"), "index.ts")]]));
  const exported = files.flatMap((file) => reader.publicNames(join(sources("core"), file)));
  const violations = exported
    .filter(({ declared }) => !reader.declarations(declared).some(({ comment }) => comment !== ""))
    .map(({ name, declared }) => {
      const path = relative(baseDir, declared.file).replaceAll(sep, "/");
      return `${name} (${path}): no TSDoc on its declaration`;
    });
  return { exports: exported.length, violations };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { exports, violations } = checkPublicDocs(process.cwd());
  for (const violation of violations) process.stdout.write(`${violation}\n`);
  process.stdout.write(`public docs: ${exports} exports, ${violations.length} without TSDoc\n`);
  if (violations.length > 0 || exports < 20) process.exitCode = 1;
}
