// Bundles test servers that use the official library. Node reads a few files instead of hundreds, so a server starts with half the CPU time.
import { chmodSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const output = join(root, "packages/test-servers/bundle");
const ofPackages = ["everything", "filesystem", "gitlab", "memory"].map((name) => [
  name,
  fileURLToPath(import.meta.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`)),
]);
const ofTests = ["contract-server", "modern"].map((name) => [
  name,
  join(root, `packages/wire/test/programs/${name}.mjs`),
]);

// The files are built in another folder and moved at the end: a server that starts meanwhile finds old or new files.
const outdir = mkdtempSync(`${output}-`);
try {
  for (const [name, input] of [...ofPackages, ...ofTests]) await bundle(input, join(outdir, name));
  chmodSync(outdir, 0o755);
  rmSync(output, { recursive: true, force: true });
  renameSync(outdir, output);
} finally {
  rmSync(outdir, { recursive: true, force: true });
}

async function bundle(input, dir) {
  const build = await rolldown({ input, platform: "node", plugins: [{ name: "place", transform: keepPlace }] });
  await build.write({ dir, format: "esm", entryFileNames: "index.js", comments: false });
  await build.close();

  /** A server finds its own files beside the module of its package, not beside the bundle. */
  function keepPlace(code, id) {
    if (id.startsWith("\0") || !code.includes("import.meta.url")) return undefined;
    const place = relative(join(output, "server"), id).split(sep).join("/");
    return code.replaceAll("import.meta.url", `new URL(${JSON.stringify(place)}, import.meta.url).href`);
  }
}
