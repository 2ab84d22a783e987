import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { toSvg } from "../screenshots.mjs";

const { Terminal } = createRequire(new URL("../../packages/cli/package.json", import.meta.url))("@xterm/headless");

async function picture(output, options) {
  const terminal = new Terminal({ cols: 20, rows: 5, allowProposedApi: true });
  await new Promise((resolve) => terminal.write(output, resolve));
  return toSvg(terminal, options);
}

const texts = (svg) =>
  [...svg.matchAll(/<text x="([\d. ]+)" y="(\d+)" fill[^>]*>([^<]*)<\/text>/g)].map(([, x, y, text]) => [
    x.split(" ").map(Number),
    Number(y),
    text,
  ]);

test("characters stand in their cells, and what follows a wide one keeps its column", async () => {
  expect(texts(await picture("ab中c"))).toEqual([
    [[16, 24.4], 53, "ab"],
    [[32.8], 53, "中"],
    [[49.6], 53, "c"],
  ]);
});

test("spaces are places, not characters, because browsers remove them in different ways", async () => {
  expect(texts(await picture("  a   b "))).toEqual([
    [[32.8], 53, "a"],
    [[66.4], 53, "b"],
  ]);
});

test("colours, grounds and weights are those of the cells", async () => {
  const svg = await picture("\u001b[1;31mred\u001b[0m \u001b[7minverse\u001b[0m \u001b[38;5;208mx\u001b[38;2;1;2;3my");
  expect(svg).toMatch(/fill="#e06c75" font-weight="bold">red</);
  expect(svg).toMatch(/<rect [^>]*fill="#d7dae0"\/>\n<text [^>]*fill="#1b1f27">inverse</);
  expect(svg).toMatch(/fill="#ff8700">x</);
  expect(svg).toMatch(/fill="#010203">y</);
});

test("what means something in SVG is text in it, and empty rows below are left out", async () => {
  const svg = await picture('<b>&"', { title: "a <title>" });
  expect(svg).toContain("&lt;b&gt;&amp;&quot;");
  expect(svg).toContain("a &lt;title&gt;");
  expect(svg).toMatch(/height="72"/);
});

test("a picture can begin at a later row, which is then its first", async () => {
  expect(texts(await picture("one\r\ntwo", { first: 1 }))).toEqual([[[16, 24.4, 32.8], 53, "two"]]);
});
