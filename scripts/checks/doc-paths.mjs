// Fails on a path in ARCHITECTURE.md, CONTRIBUTING.md or docs/adr that does not exist, on a link between pages that leads nowhere,
// on a source folder without its line in ARCHITECTURE.md, and on a file that such a line names and that is not in the folder.
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { pathToFileURL } from "node:url";
import { codeExtensions, sourcePaths } from "./sources.mjs";

/** The folders from which paths in the docs are written. */
const roots = [
  "",
  "packages",
  "packages/core/src",
  "packages/cli/src",
  "packages/wire/src",
  "packages/gateway/src",
  "packages/team/src",
  "packages/registry/src",
];
/**
 * Matches a path such as `server/server.ts`, `core/src/auth/` or `scripts/checks/names.mjs`: it has a slash, and ends with a file
 * extension or a slash.
 */
const mentioned = /(?<![\w./@*<~$-])(?:[\w.-]+\/)+(?:[\w.-]+\.(?:tsx?|mjs|md|json|yml))?(?![\w*<…/])/g;
/** Matches the line of a source folder, and in it the names of the folder's files, such as `lines.ts`. */
const folderLine = /^\| `([\w/-]+\/)` \| (.*)$/gm;
const fileName = /`([\w.-]+\.tsx?)`/g;
const links = /\]\(([^)\s#]+)(?:#[^)\s]*)?\)/g;

/** Returns the violations below `baseDir`, one line each, and the number of pages. */
export async function checkDocPaths(baseDir) {
  const pages = await pagePaths(baseDir);
  const violations = [];
  for (const page of pages) {
    const text = await readFile(join(baseDir, page), "utf8");
    const broken = linksIn(text).filter((link) => !existsSync(join(baseDir, dirname(page), link)));
    violations.push(...broken.map((link) => `${page}: the link to ${link} leads nowhere`));
    if (namesPaths(page))
      violations.push(...missingPaths(baseDir, text).map((path) => `${page}: ${path} does not exist`));
  }
  violations.push(...(await wrongFolderLines(baseDir)));
  return { pages: pages.length, violations };
}

async function pagePaths(baseDir) {
  const markdown = async (folder) =>
    (await readdir(join(baseDir, folder)).catch(() => []))
      .filter((name) => name.endsWith(".md"))
      .map((name) => posix.join(folder, name))
      .sort();
  const packages = await readdir(join(baseDir, "packages"));
  const folders = [".", "docs", "docs/adr", ...packages.map((name) => `packages/${name}`)];
  return (await Promise.all(folders.map(markdown))).flat();
}

function namesPaths(page) {
  return page === "ARCHITECTURE.md" || page === "CONTRIBUTING.md" || page.startsWith("docs/adr/");
}

function linksIn(text) {
  return [...text.matchAll(links)].map(([, link]) => link).filter((link) => !/^[a-z]+:/.test(link));
}

function missingPaths(baseDir, text) {
  const withoutAddresses = text.replaceAll(links, "]()").replaceAll(/\b[a-z]+:\/\/\S+/g, "");
  const isThere = (path) => roots.some((root) => existsSync(join(baseDir, root, path)));
  return [...new Set([...withoutAddresses.matchAll(mentioned)].map(([path]) => path))].filter((path) => !isThere(path));
}

async function wrongFolderLines(baseDir) {
  const text = await readFile(join(baseDir, "ARCHITECTURE.md"), "utf8").catch(() => "");
  const paths = (await sourcePaths(baseDir, codeExtensions)).map((path) => path.replace("packages/", ""));
  const folders = new Set(paths.map((path) => `${dirname(path)}/`));
  const missing = [...folders].filter((folder) => !text.includes(`| \`${folder}\` |`));
  const named = [...text.matchAll(folderLine)].flatMap(([, folder, line]) =>
    [...line.matchAll(fileName)].map(([, name]) => folder + name),
  );
  return [
    ...missing.map((folder) => `ARCHITECTURE.md: no line about ${folder}`),
    ...named.filter((path) => !paths.includes(path)).map((path) => `ARCHITECTURE.md: ${path} does not exist`),
  ];
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { pages, violations } = await checkDocPaths(process.cwd());
  for (const violation of violations) process.stdout.write(`${violation}\n`);
  process.stdout.write(`doc paths: ${pages} pages, ${violations.length} violations\n`);
  if (violations.length > 0 || pages < 20) process.exitCode = 1;
}
