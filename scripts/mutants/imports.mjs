// Which tests reach a source file, nearest first: read from the imports of all files.
import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

const specifier = /(?:\bfrom|\bimport)\s*\(?\s*["']([^"'\n]+)["']/g;

/** For every file, the files that import it. */
export function importersOf(root, files) {
  const packages = new Map(
    ["wire", "core", "cli", "gateway", "test-servers"].map((name) => {
      const folder = join(root, "packages", name);
      return [JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).name, folder];
    }),
  );
  const importers = new Map();
  for (const file of files) {
    for (const [, name] of readFileSync(file, "utf8").matchAll(specifier)) {
      const target = name.startsWith(".") ? resolve(dirname(file), name) : ofPackage(packages, name);
      if (target === undefined) continue;
      const list = importers.get(target) ?? [];
      list.push(file);
      importers.set(target, list);
    }
  }
  return importers;
}

function ofPackage(packages, name) {
  for (const [own, folder] of packages) {
    if (name !== own && !name.startsWith(`${own}/`)) continue;
    const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const path = name.slice(own.length);
    const entry = exports?.[`.${path}`] ?? exports?.["./*"];
    const source = typeof entry === "object" ? entry["fairlead-source"] : entry;
    return source === undefined ? undefined : join(folder, source.replace("*", path.slice(1)));
  }
  return undefined;
}

const packageOf = (file) => /packages\/[^/]+/.exec(file)?.[0];

/** Tests by distance; the one that bears the file's name comes first, and small ones before large ones of the same distance. */
export function testsFor(file, importers) {
  const distance = new Map([[file, 0]]);
  const queue = [file];
  for (const each of queue)
    for (const importer of importers.get(each) ?? [])
      if (!distance.has(importer)) {
        distance.set(importer, distance.get(each) + 1);
        queue.push(importer);
      }
  const name = basename(file).replace(/[.]tsx?$/, "");
  const folder = basename(dirname(file));
  const rank = (test) => {
    const isMirror = packageOf(test) === packageOf(file) && basename(test).replace(/[.]test[.]tsx?$/, "") === name;
    const isBeside = basename(dirname(test)) === folder || basename(test).startsWith(`${name}-`);
    return (
      (isMirror ? -20 : 0) +
      (isBeside ? -10 : 0) +
      distance.get(test) +
      (existsSync(test) ? statSync(test).size / 1e6 : 0)
    );
  };
  return queue.filter((each) => /[.]test[.]tsx?$/.test(each)).sort((one, other) => rank(one) - rank(other));
}
