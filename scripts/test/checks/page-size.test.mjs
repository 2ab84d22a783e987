import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { checkPage } from "../../checks/page-size.mjs";
import { buildPage } from "../../console-page.mjs";

/** Checks files, given as texts, of which the browser loads these first. */
function violationsOf(texts, first = Object.keys(texts)) {
  const files = new Map(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text)]));
  return checkPage({ files, first }).violations;
}

const large = randomBytes(45_000).toString("hex");

test("a first load that is too large is found, and later files do not count", () => {
  expect(violationsOf({ "index.html": "", "a.js": large, "b.js": large }, ["index.html", "a.js"])).toEqual([]);
  expect(violationsOf({ "index.html": "", "a.js": large, "b.js": large.slice(1) })).toEqual([
    expect.stringMatching(/^the first load has \d+ bytes, more than 60000$/),
  ]);
});

test("files that are too large together are found, without the licenses", () => {
  const files = { "a.js": large, "b.js": large, "c.js": large, "d.js": large };
  expect(violationsOf({ "index.html": "", "a.js.LEGAL.txt": large, ...files }, ["index.html"])).toEqual([
    expect.stringMatching(/^all files have \d+ bytes, more than 180000$/),
  ]);
});

test.each([
  ['fetch("https://fonts.example.net/a.css")', "https://fonts.example.net/a.css"],
  ["@import url(//cdn.example.net/x.css);", "//cdn.example.net/x.css"],
  ["new WebSocket(`wss://live.example.org`)", "wss://live.example.org"],
])("an address on another server is found: %s", (text, url) => {
  expect(violationsOf({ "index.html": "", "a.js": text })).toEqual([`a.js contains the address ${url}`]);
});

test("a namespace and an address on this machine are no foreign addresses", () => {
  const text = 'createElementNS("http://www.w3.org/2000/svg"); const own = "http://127.0.0.1:80"; // a comment';
  expect(violationsOf({ "index.html": "", "a.js": text })).toEqual([]);
});

test("the page that is built has its entry, its styles and what the entry imports in the first load", async () => {
  const { files, first } = await buildPage();
  expect(first[0]).toBe("index.html");
  const document = files.get("index.html").toString();
  for (const name of first.slice(1)) expect(document).toContain(`"/assets/${name}"`);
  expect(checkPage({ files, first }).violations).toEqual([]);
});
