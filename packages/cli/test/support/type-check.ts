/** Compiles TypeScript files that import `@fairlead/core`, as in a program of a user's. */

import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TemporaryFolder } from "@fairlead/test-servers";

const root = fileURLToPath(new URL("../../../..", import.meta.url));

const compilerOptions = {
  target: "es2023",
  lib: ["es2023", "esnext.disposable"],
  module: "nodenext",
  types: ["node"],
  noEmit: true,
  declaration: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  isolatedDeclarations: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
};

/** Makes `@fairlead/core` importable from files in the folder. */
export async function linkPackages(folder: TemporaryFolder): Promise<void> {
  mkdirSync(join(folder.path, "node_modules"));
  for (const name of ["@fairlead", "@types", "undici-types"])
    symlinkSync(join(root, "node_modules", name), join(folder.path, "node_modules", name), "junction");
  await folder.write("package.json", { type: "module" });
}

/** Returns the compiler's complaints about these files of the folder; an empty text if there are none. */
export async function typeCheck(folder: TemporaryFolder, ...files: readonly string[]): Promise<string> {
  await folder.write("tsconfig.json", { compilerOptions, files });
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  return promisify(execFile)(process.execPath, [compiler, "-p", "."], {
    cwd: folder.path,
    maxBuffer: 64 * 1024 * 1024,
  }).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout: string }) => error.stdout,
  );
}
