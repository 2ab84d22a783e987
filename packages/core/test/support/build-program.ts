/** Turns a program of the tests, by default one of `support/programs`, into plain JavaScript that a bare `node` can run as another process. */

import { join } from "node:path";
import { buildSync } from "esbuild";

/** Bundled as the command itself is: CommonJS dependencies need `require`. */
export async function buildProgram(
  name: string,
  folder: string,
  programs: string = join(import.meta.dirname, "programs"),
): Promise<string> {
  const outfile = join(folder, `${name}.mjs`);
  // The asynchronous one leaves a process of its own behind.
  buildSync({
    entryPoints: [join(programs, `${name}.ts`)],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    conditions: ["fairlead-source"],
    external: ["@napi-rs/keyring"],
    mainFields: ["module", "main"],
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
  return outfile;
}
