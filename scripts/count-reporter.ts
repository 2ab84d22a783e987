import type { Reporter, TestModule } from "vitest/node";

/** Ends every run with `N passed, N failed` alone on the last line; a file that does not load counts as one failure. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    let passed = 0;
    let failed = errors.length;
    for (const module of modules) {
      const states = [...module.children.allTests()].map((test) => test.result().state);
      const failedHere = states.filter((state) => state === "failed").length;
      passed += states.filter((state) => state === "passed").length;
      failed += failedHere === 0 && module.state() === "failed" ? 1 : failedHere;
    }
    process.on("exit", () => process.stdout.write(`${passed} passed, ${failed} failed\n`));
  }
}
