/** Bundles the libraries and the command once before the tests: some of them run these as a person would, as processes of their own. */

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export default async function setup(): Promise<void> {
  const scripts = ["bundle-library", "bundle"].map((name) => `../../../../scripts/${name}.mjs`);
  const bundle = (script: string) =>
    promisify(execFile)(process.execPath, [fileURLToPath(new URL(script, import.meta.url))]);
  await Promise.all(scripts.map(bundle));
}
