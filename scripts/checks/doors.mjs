/*
 * Checks how the command, the console and the gateway import core:
 *   - they use few addresses, so that a reader of core sees what they depend on;
 *   - a door lists its names one by one, and each of them is used;
 *   - no import() loads a door, because that would load every file behind it.
 */
import { pathToFileURL } from "node:url";
import { doorFolder, nodesOf, sourcePaths, specifierOf } from "./sources.mjs";

/** How many addresses below `@fairlead/core/` the command, the console and the gateway may use. */
export const mostAddresses = 30;
const core = "@fairlead/core/";

/** Returns the violations below `baseDir`, one line each, and the addresses that the sources use. */
export async function checkDoors(baseDir) {
  const paths = await sourcePaths(baseDir, [".ts", ".tsx"], ["src", "test"]);
  const names = new Map();
  const violations = [];
  for (const path of paths.filter((each) => each.startsWith(doorFolder)))
    for (const node of await nodesOf(baseDir, path)) {
      if (node.type === "ExportAllDeclaration") violations.push(`${path} does not list the names that it exports`);
      if (node.type === "ExportSpecifier") names.set(`${addressOf(path)} ${node.orig.value}`, path);
    }
  const doors = new Set([...names.values()].map(addressOf));
  const unused = new Map(names);
  const addresses = new Set();
  for (const path of paths.filter((each) => /^packages[/](?:cli|console|gateway|registry|team)[/]/.test(each)))
    for (const node of await nodesOf(baseDir, path)) {
      const address = specifierOf(node);
      if (!address?.startsWith(core)) continue;
      if (/^packages[/][a-z]+[/]src[/]/.test(path)) addresses.add(address);
      if (node.type === "CallExpression" && doors.has(address))
        violations.push(`${path}: import() of ${address} loads every file behind this door`);
      for (const { imported, local } of node.specifiers ?? []) unused.delete(`${address} ${(imported ?? local).value}`);
    }
  for (const [name, path] of unused) violations.push(`${path}: no file imports ${name.split(" ")[1]}`);
  if (addresses.size > mostAddresses)
    violations.push(`${addresses.size} addresses of core are used, at most ${mostAddresses} may be`);
  return { addresses, violations };
}

function addressOf(path) {
  return core + path.slice(doorFolder.length, -".ts".length);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { addresses, violations } = await checkDoors(process.cwd());
  for (const violation of violations) process.stdout.write(`${violation}\n`);
  process.stdout.write(`doors: ${addresses.size} addresses of core, ${violations.length} violations\n`);
  if (violations.length > 0 || addresses.size < 10) process.exitCode = 1;
}
