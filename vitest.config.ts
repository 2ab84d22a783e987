import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// Tests run against sources, not dist: the condition must stand under `ssr`, or vitest ignores it in Node.
const ssr = { resolve: { conditions: ["fairlead-source", "module", "node", "development|production"] } };
const compiled = fileURLToPath(new URL("packages/core/test/build.setup.ts", import.meta.url));
const bundled = fileURLToPath(new URL("packages/cli/test/bundle.setup.ts", import.meta.url));
const project = (name: string, globalSetup: string[] = []) => ({
  ssr,
  test: {
    name,
    root: `packages/${name}`,
    include: ["test/**/*.test.ts"],
    globalSetup,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    env: { NO_COLOR: "1" },
  },
});

export default defineConfig({
  test: {
    reporters: ["default", "./scripts/count-reporter.ts"],
    projects: [
      project("wire"),
      project("core", [compiled]),
      project("cli", [compiled, bundled]),
      { test: { name: "repo", root: ".", include: ["scripts/test/**/*.test.mjs"], testTimeout: 120_000 } },
    ],
  },
});
