/*
 * Builds the page of the console: node scripts/console-page.mjs [FOLDER]. Default: the folder of the page in the
 * command's bundle, which `npm run build` writes. Each file has its digest in its name, and lies there compressed.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { brotliCompressSync, gzipSync, constants as zlib } from "node:zlib";
import { build } from "esbuild";

const page = fileURLToPath(new URL("../packages/console/src/page", import.meta.url));
const bundled = fileURLToPath(new URL("../packages/cli/bundle/console", import.meta.url));
const mark = /<!-- the build puts .* here -->\n/;

const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

/**
 * Builds the page in memory. `files` are the contents by name, `first` the names of the files that a browser loads before
 * the page shows something: the document, and everything that the entry imports at once.
 */
export async function buildPage() {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(page, "main.tsx"), join(page, "icon.svg")],
    absWorkingDir: page,
    outdir: page,
    write: false,
    metafile: true,
    bundle: true,
    minify: true,
    splitting: true,
    format: "esm",
    target: ["chrome111", "firefox121", "safari17"],
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    jsx: "automatic",
    jsxImportSource: "preact",
    conditions: ["fairlead-source"],
    define: { "process.env.NODE_ENV": '"production"' },
    // The licenses of the libraries stay with the code, in a file of their own.
    legalComments: "linked",
    loader: { ".svg": "copy" },
    logLevel: "error",
  });
  const files = new Map(outputFiles.map(({ path, contents }) => [basename(path), Buffer.from(contents)]));
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
  // A file that is loaded late is an entry too.
  const [entry] = [...outputs].find(([, { entryPoint }]) => entryPoint === "main.tsx") ?? [];
  const icon = [...files.keys()].find((name) => name.endsWith(".svg"));
  const scripts = [entry];
  for (const name of scripts)
    for (const { path, kind } of outputs.get(name).imports)
      if (kind === "import-statement" && !scripts.includes(basename(path))) scripts.push(basename(path));
  const styles = scripts.flatMap((name) => outputs.get(name).cssBundle ?? []).map((path) => basename(path));
  const head = [
    // In the document, so that no browser looks for an icon at another address first.
    `<link rel="icon" type="image/svg+xml" href="/assets/${icon}">`,
    ...styles.map((name) => `<link rel="stylesheet" href="/assets/${name}">`),
    ...scripts.slice(1).map((name) => `<link rel="modulepreload" href="/assets/${name}">`),
    `<script type="module" src="/assets/${entry}"></script>`,
  ];
  const source = readFileSync(join(page, "index.html"), "utf8");
  if (!mark.test(source)) throw new Error("index.html of the page has no place for the script and the styles");
  files.set("index.html", Buffer.from(source.replace(mark, `${head.join("\n")}\n`)));
  return { files, first: ["index.html", ...scripts, ...styles] };
}

/** Returns the files of the folder: the list of the files, and each file compressed in two ways. */
export function packed(files) {
  const written = new Map();
  const list = {};
  for (const [name, content] of files) {
    list[name] = types[/[.]\w+$/.exec(name)?.[0] ?? ""];
    if (list[name] === undefined) throw new Error(`${name} of the page has no media type`);
    const params = { [zlib.BROTLI_PARAM_QUALITY]: 11, [zlib.BROTLI_PARAM_SIZE_HINT]: content.length };
    written.set(`${name}.br`, brotliCompressSync(content, { params }));
    written.set(`${name}.gz`, gzipSync(content, { level: 9 }));
  }
  return written.set("files.json", Buffer.from(`${JSON.stringify(list, null, 2)}\n`));
}

/** Builds the page into a folder. Returns the written files. */
export async function writePage(folder) {
  const { files } = await buildPage();
  const written = packed(files);
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of written) writeFileSync(join(folder, name), content);
  return written;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const folder = resolve(process.argv[2] ?? bundled);
  if (!existsSync(dirname(folder))) throw new Error(`${dirname(folder)} does not exist: run npm run build first`);
  // A host that runs meanwhile finds the old files or the new ones.
  const fresh = mkdtempSync(`${folder}-`);
  await writePage(fresh);
  chmodSync(fresh, 0o755);
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
}
