/**
 * Bundles the libraries, the command and some test servers before the tests, unless the bundles are current: some tests
 * run these as a person would, as processes of their own.
 */

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const packages = ["wire", "core", "gateway", "console", "team", "cli"].map((name) => `packages/${name}`);
const sources = packages.flatMap((path) => [`${path}/src`, `${path}/package.json`]);
const tools = ["packages/cli/bin", "package-lock.json"];
/** The folders that each script writes, and what it reads. */
const bundles = {
  "bundle-library": { outputs: ["packages/core/dist", "packages/wire/dist"], inputs: [...sources, ...tools] },
  bundle: { outputs: ["packages/cli/bundle"], inputs: [...sources, ...tools] },
  "bundle-servers": {
    outputs: ["packages/test-servers/bundle"],
    inputs: ["packages/wire/test/programs", "package-lock.json"],
  },
};

interface Built {
  readonly isBuilt: (output: string, inputs: readonly string[]) => boolean;
}

export default async function setup(): Promise<void> {
  const script = new URL("../../../../scripts/built.mjs", import.meta.url).href;
  const { isBuilt } = (await import(script)) as Built;
  const outdated = Object.entries(bundles).filter(([name, { outputs, inputs }]) => {
    const read = [...inputs, ...scriptsOf(name)].map(inRepository);
    return !outputs.every((output) => isBuilt(inRepository(output), read));
  });
  const bundle = ([name]: readonly [string, unknown]) =>
    promisify(execFile)(process.execPath, [inRepository(`scripts/${name}.mjs`)]);
  await Promise.all(outdated.map(bundle));
}

function scriptsOf(name: string): readonly string[] {
  return [name, "reachable", "lean-dependencies", "console-page"].map((script) => `scripts/${script}.mjs`);
}

function inRepository(path: string): string {
  return fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
}
