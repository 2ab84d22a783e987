import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// Tests run against sources, not dist: the condition must stand under `ssr`, or vitest ignores it in Node.
const ssr = { resolve: { conditions: ["fairlead-source", "node", "development|production"] } };
const compiled = fileURLToPath(new URL("packages/core/test/build.setup.ts", import.meta.url));
const bundled = fileURLToPath(new URL("packages/cli/test/support/bundle.setup.ts", import.meta.url));
/** Fails the test that leaves a rejection, a process, a thread, a timer, a socket, a file watcher or a folder behind. */
const guard = fileURLToPath(new URL("packages/test-servers/src/guard/setup.ts", import.meta.url));
/** The usual servers of the tests run in one process. */
const servers = fileURLToPath(new URL("packages/test-servers/src/shared-host.setup.ts", import.meta.url));
/** One PostgreSQL for all tests that need one. It starts when the first of them asks for it. */
const postgres = fileURLToPath(new URL("packages/test-servers/src/postgres.setup.ts", import.meta.url));
/** The variable keeps esbuild from starting a thread that lives as long as the process. */
const env = { NO_COLOR: "1", ESBUILD_WORKER_THREADS: "0" };
const limits = { testTimeout: 60_000, hookTimeout: 60_000, env };
/** The keyring library stays with the first keychain that a process meets: each of these files needs one of its own. */
const keychains = "test/files/secrets/*-keychain.test.ts";

export default defineConfig({
  test: {
    // On two cores the default would be one; a test often waits for another process.
    maxWorkers: 2,
    reporters: ["default", "./scripts/count-reporter.ts"],
    projects: [
      {
        ssr,
        test: {
          // One project for all packages: each project would compile and load the sources of the others again.
          name: "packages",
          root: ".",
          include: ["packages/*/test/**/*.test.ts"],
          exclude: [`packages/core/${keychains}`],
          globalSetup: [compiled, servers, postgres, bundled],
          // To start a process for each file and load everything in it again took longer than most of their tests.
          isolate: false,
          // Most code of a test runs once, so V8 optimises late. `--max-old-space-size` would also lift the limits of threads.
          execArgv: ["--interrupt-budget=400000", "--max-semi-space-size=32"],
          // No test imports names that a module has only in its default export. Support for them costs time at each use of a name.
          deps: { interopDefault: false },
          setupFiles: [guard],
          ...limits,
        },
      },
      { ssr, test: { name: "keychains", root: "packages/core", include: [keychains], setupFiles: [guard], ...limits } },
      {
        test: {
          name: "repo",
          root: ".",
          include: ["scripts/test/**/*.test.mjs", "conformance/*.test.mjs"],
          // No file changes what another one uses, and a process for each file would take seconds.
          isolate: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
