// Pictures of terminal screens for the docs: what a terminal emulator holds, as SVG.
//   node scripts/screenshots.mjs FOLDER     writes docs/images/NAME.svg and NAME.txt, the same screen as text, for each NAME.json in it:
//                                           {"columns", "rows", "title", "output", "from"?}, the output being all that a program wrote to a terminal of that size;
//                                           the picture begins at the row that has the text `from`
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const cell = { width: 8.4, height: 18 };
const margin = { side: 16, top: 40, bottom: 14 };
const ground = "#1b1f27";
const ink = "#d7dae0";
/** The sixteen terminal colours, by their numbers. */
const palette = [
  "#3b4252",
  "#e06c75",
  "#98c379",
  "#e5c07b",
  "#61afef",
  "#c678dd",
  "#56b6c2",
  "#d7dae0",
  "#6b7486",
  "#ff7b86",
  "#b5e08f",
  "#ffd68a",
  "#7cc4ff",
  "#de8ff5",
  "#6fd3e0",
  "#ffffff",
];

/** Returns the screen of a terminal emulator (`@xterm/headless`) from a row on, without empty rows at the end. */
export function toSvg({ buffer: { active }, cols, rows }, { title = "", first = 0 } = {}) {
  const lines = Array.from({ length: rows - first }, (_, at) =>
    runsOf(active.getLine(active.viewportY + first + at), cols),
  );
  const height = lines.findLastIndex((runs) => runs.some(({ text, ground: own }) => text.trim() !== "" || own)) + 1;
  const size = {
    width: Math.ceil(cols * cell.width + 2 * margin.side),
    height: Math.ceil(height * cell.height + margin.top + margin.bottom),
  };
  const body = lines.slice(0, height).flatMap((runs, row) => runs.flatMap((run) => drawn(run, row)));
  const dots = ["#e06c75", "#e5c07b", "#98c379"].map(
    (colour, at) => `<circle cx="${18 + at * 18}" cy="18" r="5.5" fill="${colour}"/>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height}" viewBox="0 0 ${size.width} ${size.height}" role="img" aria-label="${escaped(title)}">`,
    `<rect width="100%" height="100%" rx="8" fill="${ground}"/>`,
    ...dots,
    `<text x="50%" y="22" text-anchor="middle" font-family="sans-serif" font-size="12" fill="#8b93a3">${escaped(title)}</text>`,
    '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" font-size="14">',
    ...body,
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

/**
 * Joins neighbouring cells with the same style. A wide character stays alone, so that the following text keeps its
 * column.
 */
function runsOf(line, cols) {
  const runs = [];
  for (let column = 0; column < cols; column += 1) {
    const each = line?.getCell(column);
    if (each === undefined || each.getWidth() === 0) continue;
    const look = lookOf(each);
    const key = JSON.stringify(look);
    const last = runs.at(-1);
    const text = each.getChars() || " ";
    const isAlone = each.getWidth() > 1 || text.length > 1;
    if (last !== undefined && last.key === key && !last.isAlone && !isAlone) {
      last.text += text;
      last.columns += 1;
    } else runs.push({ ...look, key, text, column, columns: each.getWidth(), isAlone });
  }
  return runs;
}

function lookOf(each) {
  const own = colourOf(each.isFgDefault(), each.isFgRGB(), each.getFgColor());
  const behind = colourOf(each.isBgDefault(), each.isBgRGB(), each.getBgColor());
  const isInverse = each.isInverse() !== 0;
  return {
    colour: isInverse ? (behind ?? ground) : (own ?? ink),
    ground: isInverse ? (own ?? ink) : behind,
    isBold: each.isBold() !== 0,
    isDim: each.isDim() !== 0,
    isItalic: each.isItalic() !== 0,
    isUnderlined: each.isUnderline() !== 0,
  };
}

function colourOf(isDefault, isRgb, value) {
  if (isDefault) return undefined;
  if (isRgb) return `#${value.toString(16).padStart(6, "0")}`;
  return palette[value] ?? cubeColour(value);
}

/** Returns a colour after the first sixteen: a cube with six steps on each side, and a scale of greys. */
function cubeColour(value) {
  const hex = (number) => number.toString(16).padStart(2, "0");
  if (value >= 232) return `#${hex(8 + (value - 232) * 10).repeat(3)}`;
  const steps = [Math.floor((value - 16) / 36), Math.floor((value - 16) / 6) % 6, (value - 16) % 6];
  return `#${steps.map((step) => hex(step === 0 ? 0 : 55 + step * 40)).join("")}`;
}

function drawn({ text, column, columns, colour, ground: behind, isAlone, isBold, isDim, isItalic, isUnderlined }, row) {
  const x = rounded(margin.side + column * cell.width);
  const y = margin.top + row * cell.height;
  const width = rounded(columns * cell.width);
  const rect =
    behind === undefined ? [] : [`<rect x="${x}" y="${y}" width="${width}" height="${cell.height}" fill="${behind}"/>`];
  const style = [
    `fill="${colour}"`,
    ...(isBold ? ['font-weight="bold"'] : []),
    ...(isDim ? ['opacity="0.65"'] : []),
    ...(isItalic ? ['font-style="italic"'] : []),
    ...(isUnderlined ? ['text-decoration="underline"'] : []),
  ].join(" ");
  // Each word is drawn alone, because browsers remove spaces in different ways, and each of its characters has its own
  // place, so that it stands in its column with any font.
  const words = [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => {
    const characters = isAlone ? [word] : [...word];
    const places = characters.map((_, at) => rounded(x + (index + at) * cell.width));
    return `<text x="${places.join(" ")}" y="${y + 13}" ${style}>${escaped(word)}</text>`;
  });
  return [...rect, ...words];
}

function rounded(number) {
  return Math.round(number * 10) / 10;
}

const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escaped(text) {
  return text.replaceAll(/[&<>"]/g, (character) => entities[character]);
}

async function render({ columns, rows, title, output, from = "" }) {
  // The terminal emulator is a dependency of the command's tests.
  const { Terminal } = createRequire(join(root, "packages/cli/package.json"))("@xterm/headless");
  const terminal = new Terminal({ cols: columns, rows, allowProposedApi: true });
  await new Promise((resolve) => terminal.write(output, resolve));
  const lines = screenRows(terminal);
  const first = lines.findIndex((line) => line.includes(from));
  if (first === -1) throw new Error(`no row has "${from}":\n${lines.join("\n")}`);
  return { svg: toSvg(terminal, { title, first }), text: `${lines.slice(first).join("\n").trimEnd()}\n` };
}

/** Returns the rows of the screen, without spaces at their ends. */
function screenRows({ buffer: { active }, rows }) {
  const row = (at) =>
    active
      .getLine(active.viewportY + at)
      ?.translateToString(true)
      .trimEnd() ?? "";
  return Array.from({ length: rows }, (_, at) => row(at));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = process.argv.at(2);
  if (folder === undefined) throw new Error("say where the recordings are: node scripts/screenshots.mjs FOLDER");
  const images = join(root, "docs/images");
  mkdirSync(images, { recursive: true });
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
    const screen = await render(JSON.parse(readFileSync(join(folder, file), "utf8")));
    const name = join(images, basename(file, ".json"));
    writeFileSync(`${name}.svg`, screen.svg);
    writeFileSync(`${name}.txt`, screen.text);
  }
}
