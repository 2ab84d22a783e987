/*
 * Checks the built page of the console:
 *   - what a browser loads before the page shows something, and all files together, are at most so large (gzip);
 *   - nothing in it is an address on another server, so it works offline and tells nobody that it is open;
 *   - each file is compressed as a browser gets it.
 */
import { pathToFileURL } from "node:url";
import { buildPage, packed } from "../console-page.mjs";

/** Bytes. Beside scripts and styles, the first load contains the document. */
const mostFirst = 60_000;
const mostAll = 180_000;

/** Addresses that no browser requests: XML namespaces, examples for a person, and a library's address for bug reports. */
const harmless = [
  /^http:\/\/www\.w3\.org\//,
  /^https:\/\/(?:[\w-]+\.)?example\.(?:com|org)(?:\/|$)/,
  /^https:\/\/github\.com\/markedjs\/marked\.$/,
];

/** Returns the violations, one line each, and the sizes in bytes. */
export function checkPage({ files, first }) {
  const written = packed(files);
  const shown = [...files.keys()].filter((name) => !name.endsWith(".LEGAL.txt"));
  const sizeOf = (names) => names.reduce((sum, name) => sum + written.get(`${name}.gz`).length, 0);
  const sizes = { first: sizeOf(first), all: sizeOf(shown) };
  const violations = [];
  if (sizes.first > mostFirst) violations.push(`the first load has ${sizes.first} bytes, more than ${mostFirst}`);
  if (sizes.all > mostAll) violations.push(`all files have ${sizes.all} bytes, more than ${mostAll}`);
  for (const name of shown)
    for (const url of foreignIn(files.get(name).toString("utf8")))
      violations.push(`${name} contains the address ${url}`);
  return { sizes, violations };
}

function foreignIn(text) {
  const found = [...text.matchAll(/(?:https?:|wss?:)?\/\/[a-z0-9][\w.-]*\.[a-z]{2,}[^\s"'`\\)]*/gi)].map(
    ([url]) => url,
  );
  return found.filter((url) => !harmless.some((pattern) => pattern.test(url)));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { sizes, violations } = checkPage(await buildPage());
  for (const violation of violations) process.stdout.write(`${violation}\n`);
  process.stdout.write(`page size: ${sizes.first} bytes first, ${sizes.all} in all, ${violations.length} violations\n`);
  if (violations.length > 0) process.exitCode = 1;
}
