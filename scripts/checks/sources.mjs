// Reads the source files of the packages and their syntax trees, for checks that other tools do not make.
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, posix, relative, sep } from "node:path";
import { parse } from "@swc/core";

/** The extensions of every file with code, also of programs and scripts that the compiler does not read. */
export const codeExtensions = [".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".sh", ".ps1"];

/** Returns sorted paths such as `packages/core/src/host.ts`. `folders` are folders of each package. */
export async function sourcePaths(baseDir, extensions = [".ts", ".tsx"], folders = ["src"]) {
  const packages = join(baseDir, "packages");
  const files = [];
  for (const name of await readdir(packages)) {
    for (const folder of folders) {
      const found = await readdir(join(packages, name, folder), { recursive: true, withFileTypes: true }).catch(
        () => [],
      );
      files.push(...found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)));
    }
  }
  return files
    .filter((file) => extensions.some((extension) => file.endsWith(extension)))
    .map((file) => relative(baseDir, file).replaceAll(sep, "/"))
    .sort();
}

/** Yields every node of a file's syntax tree, parents before children. */
export async function nodesOf(baseDir, path) {
  const text = await readFile(join(baseDir, path), "utf8");
  /** @type {Record<string, unknown>} Each kind of node has members of its own. */
  const root = await parse(text, { syntax: "typescript", tsx: path.endsWith(".tsx"), decorators: true });
  /** @type {Record<string, unknown>[]} */
  const nodes = [];
  const open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node.type === "string") nodes.push(node);
    open.push(...Object.values(node).filter((value) => typeof value === "object" && value !== null));
  }
  return nodes;
}

/** Returns the name of the module that a node imports or re-exports, also with `import()`. */
export function specifierOf(node) {
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportNamedDeclaration":
    case "ExportAllDeclaration":
      return node.source?.value;
    case "TsImportType":
      return node.argument.value;
    case "CallExpression":
      return node.callee.type === "Import" ? node.arguments[0]?.expression.value : undefined;
    default:
      return undefined;
  }
}

/** Files of core that list, by name, what the command and the gateway use of it. */
export const doorFolder = "packages/core/src/doors/";

/** Returns the files whose values an import takes through a door. A bundle has only these, not the rest of the door. */
export function behindDoor(importing, door, doorNodes) {
  const taken = importing.specifiers
    .filter(({ isTypeOnly }) => !isTypeOnly)
    .map(({ imported, local }) => (imported ?? local).value);
  return doorNodes
    .filter(
      ({ type, specifiers }) =>
        type === "ExportNamedDeclaration" && specifiers.some(({ orig }) => taken.includes(orig.value)),
    )
    .map((node) => resolved(specifierOf(node), door));
}

/** Returns a name as dependency-cruiser writes it: our own files by path, everything else as it is written. */
export function resolved(specifier, from) {
  if (specifier?.startsWith(".")) return posix.join(dirname(from), specifier);
  return specifier?.replace(
    /^@fairlead\/([a-z-]+)(?:\/(.*))?$/,
    (_, name, file = "index") => `packages/${name}/src/${file}.ts`,
  );
}
