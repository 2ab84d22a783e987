/** Turns one of the programs beside this file into plain JavaScript that a bare `node` can run as another process. */

import { join } from "node:path";
import { build } from "esbuild";

/** Bundled as the command itself is: CommonJS dependencies need `require`. */
export async function buildProgram(name: string, folder: string): Promise<string> {
  const outfile = join(folder, `${name}.mjs`);
  await build({
    entryPoints: [join(import.meta.dirname, "programs", `${name}.ts`)],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    external: ["@napi-rs/keyring"],
    mainFields: ["module", "main"],
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
  return outfile;
}
