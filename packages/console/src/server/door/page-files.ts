/** The built page: a document, scripts and styles, compressed when they were built. */

import { gunzipSync } from "node:zlib";

/** One file of the page, in the encodings that browsers accept. */
export interface PageFile {
  readonly type: string;
  readonly br: Buffer;
  readonly gzip: Buffer;
}

export interface PageFiles {
  /** The document of every page. */
  readonly document: PageFile;
  /** The other files, by their path in addresses. The path contains a digest of the file. */
  readonly assets: ReadonlyMap<string, PageFile>;
  readonly icon: PageFile;
}

/** The name of the file that lists the others. `scripts/console-page.mjs` writes it. */
const listName = "files.json";

/**
 * Reads the files of the page.
 *
 * @param read Returns a file of the folder that `scripts/console-page.mjs` has written.
 */
export function readPageFiles(read: (name: string) => Buffer): PageFiles {
  // The build of the same version has written it.
  const list = JSON.parse(read(listName).toString("utf8")) as Readonly<Record<string, string>>;
  const files = Object.entries(list).map(([name, type]): [string, PageFile] => [
    name,
    { type, br: read(`${name}.br`), gzip: read(`${name}.gz`) },
  ]);
  const document = files.find(([name]) => name === "index.html")?.[1];
  const icon = files.find(([, { type }]) => type === "image/svg+xml")?.[1];
  if (icon === undefined) throw new Error("the console's page is not built: its icon is missing");
  if (document === undefined) throw new Error("the console's page is not built: index.html is missing");
  const assets = files
    .filter(([, file]) => file !== document)
    .map(([name, file]) => [`/assets/${name}`, file] as const);
  return { document, assets: new Map(assets), icon };
}

/** Returns the content in an encoding that the browser accepts, as `Accept-Encoding` says. */
export function encoded(
  { br, gzip }: PageFile,
  accepted: string,
): { readonly encoding: "br" | "gzip" | undefined; readonly body: Buffer } {
  if (/(?:^|[,\s])br(?:$|[,\s])/.test(accepted)) return { encoding: "br", body: br };
  if (/(?:^|[,\s])gzip(?:$|[,\s])/.test(accepted)) return { encoding: "gzip", body: gzip };
  return { encoding: undefined, body: gunzipSync(gzip) };
}
