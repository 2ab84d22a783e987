/** An npm registry on loopback, with packages that a test gives it. The real npm installs them. */

import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { type WebServer, webServer } from "./web-server.ts";

/** A package: its package.json, and the text of its other files by their names. */
export interface NpmPackage {
  readonly manifest: { readonly name: string; readonly version: string; readonly [key: string]: unknown };
  readonly files: Readonly<Record<string, string>>;
}

export interface NpmRegistry extends WebServer {
  /** How many tarballs were fetched. */
  fetched(): number;
}

/** Starts the registry. Point npm to it with the variable `npm_config_registry`. */
export async function npmRegistry(packages: readonly NpmPackage[]): Promise<NpmRegistry> {
  const server = await webServer(({ path, headers }, response) => {
    const url = new URL(path, `http://${headers.host}`);
    const [name = "", tarball] = decodeURIComponent(url.pathname.slice(1)).split("/-/");
    const own = packages.filter(({ manifest }) => manifest.name === name);
    if (own.length === 0) return void response.writeHead(404).end("{}");
    if (tarball === undefined) return void response.end(JSON.stringify(document(own, url.origin)));
    const found = own.find(({ manifest }) => tarball === `${manifest.version}.tgz`);
    response.end(found && tarballOf(found));
  });
  return Object.assign(server, { fetched: () => server.seen.filter(({ path }) => path.endsWith(".tgz")).length });
}

function document(own: readonly NpmPackage[], origin: string): object {
  const name = own[0]?.manifest.name ?? "";
  const versions = own.map((each): [string, object] => {
    const bytes = tarballOf(each);
    const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
    const tarball = `${origin}/${name}/-/${each.manifest.version}.tgz`;
    const dist = { tarball, integrity, shasum: createHash("sha1").update(bytes).digest("hex") };
    return [each.manifest.version, { ...each.manifest, _id: `${name}@${each.manifest.version}`, dist }];
  });
  return {
    _id: name,
    name,
    "dist-tags": { latest: own.at(-1)?.manifest.version },
    versions: Object.fromEntries<object>(versions),
  };
}

function tarballOf({ manifest, files }: NpmPackage): Buffer {
  const all = { "package.json": JSON.stringify(manifest), ...files };
  const entries = Object.entries(all).flatMap(([name, text]) => [
    header(`package/${name}`, Buffer.byteLength(text)),
    padded(text),
  ]);
  return gzipSync(Buffer.concat([...entries, Buffer.alloc(1024)]));
}

function padded(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]);
}

/** The header of a file in a tar archive (ustar). */
function header(name: string, size: number): Buffer {
  const block = Buffer.alloc(512);
  const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, "0")}\0`;
  block.write(name, 0);
  block.write(octal(0o755, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(0, 12), 136);
  block.write("        ", 148);
  block.write("0", 156);
  block.write("ustar\u000000", 257);
  block.write(
    octal(
      [...block].reduce((sum, byte) => sum + byte, 0),
      7,
    ),
    148,
  );
  return block;
}
