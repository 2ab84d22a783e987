import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { expect, test } from "vitest";

const { metafile } = buildSync({
  absWorkingDir: fileURLToPath(new URL("../../src/", import.meta.url)),
  entryPoints: ["index.ts"],
  bundle: true,
  write: false,
  metafile: true,
  format: "esm",
  platform: "node",
  packages: "external",
  logLevel: "silent",
});

/** Returns the packages that are loaded at once with a file. */
function packagesOf(file: string): ReadonlySet<string> {
  const [files, packages] = [new Set([file]), new Set<string>()];
  for (const each of files)
    for (const { path, kind, external } of metafile.inputs[each]?.imports ?? [])
      if (kind === "import-statement") (external === true ? packages : files).add(path);
  return packages;
}

test.each([
  "index.ts",
  "auth/auth-hook.ts",
  "auth/oauth/oauth-provider.ts",
  "auth/oauth/refresh.ts",
  "auth/machine/machine-auth.ts",
])("%s loads the OAuth library only when a token is requested", (file) => {
  expect(metafile.inputs).toHaveProperty([file]);
  expect(packagesOf(file)).not.toContain("oauth4webapi");
});

test("a sign-in loads the OAuth library", () => {
  expect(packagesOf("auth/sign-in.ts")).toContain("oauth4webapi");
});
