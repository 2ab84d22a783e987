// Which tests reach a source file, nearest first: read from the imports of all files.
import { existsSync, readFileSync } from "node:fs";
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

/**
 * Tests by distance, by how many folders they share with the file, and by how many rare words they share with `passage`, the lines around a
 * change. The test that bears the file's name comes first, and small tests come before large ones of the same rank. The order decides only
 * how soon a mutant is noticed, and which tests are left out of a long list.
 */
export function testsFor(file, importers, passage = "") {
  const distance = new Map([[file, 0]]);
  const queue = [file];
  for (const each of queue)
    for (const importer of importers.get(each) ?? [])
      if (!distance.has(importer)) {
        distance.set(importer, distance.get(each) + 1);
        queue.push(importer);
      }
  const tests = queue.filter((each) => /[.]test[.]tsx?$/.test(each));
  const texts = new Map(tests.map((test) => [test, existsSync(test) ? readFileSync(test, "utf8") : ""]));
  const rarity = raritiesOf(passage, [...texts.values()]);
  const name = basename(file).replace(/[.]tsx?$/, "");
  const folder = basename(dirname(file));
  const ranks = new Map(
    tests.map((test) => {
      const text = texts.get(test);
      const testName = basename(test).replace(/[.]test[.]tsx?$/, "");
      const isMirror = packageOf(test) === packageOf(file) && testName === name;
      const isBeside =
        basename(dirname(test)) === folder || testName.startsWith(`${name}-`) || name.startsWith(`${testName}-`);
      const words = [...rarity].reduce((sum, [word, weight]) => sum + (text.includes(word) ? weight : 0), 0);
      return [
        test,
        distance.get(test) -
          (isMirror ? 40 : 0) -
          (isBeside ? 10 : 0) -
          nearness(test, file) -
          Math.min(words, 15) +
          text.length / 5_000,
      ];
    }),
  );
  return tests.sort((one, other) => ranks.get(one) - ranks.get(other));
}

/** For each longer word of the passage that a test contains, how rare it is among the tests. */
function raritiesOf(passage, texts) {
  const words = new Set(passage.match(/[\w-]{5,}/g));
  const weights = [...words].map((word) => {
    const count = texts.filter((text) => text.includes(word)).length;
    return [word, count === 0 ? 0 : Math.log(texts.length / count)];
  });
  return new Map(weights);
}

/** How near the folders below `test/` and `src/` are: core/test/auth/a.test.ts is near to core/src/auth/oauth/b.ts. */
function nearness(test, file) {
  if (packageOf(test) !== packageOf(file)) return 0;
  const [ofTest, ofFile] = [test, file].map((path) =>
    (dirname(path).split(/\/(?:test|src)(?:\/|$)/)[1] ?? "").split("/").filter((folder) => folder !== ""),
  );
  const end = ofTest.findIndex((folder, at) => folder !== ofFile[at]);
  const shared = end === -1 ? ofTest.length : end;
  return 3 * shared - (ofTest.length - shared);
}
