import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

/**
 * Ends every run with `N passed, N failed` on the last line. A file that does not load counts as one failure. If a file
 * is named for it, the line goes to that file, because the caller has more to print first.
 */
export default class CountReporter implements Reporter {
  readonly #file: string | undefined = process.env["TEST_COUNTS_FILE"];

  constructor() {
    // The variable is removed, because programs that the tests start must not see it.
    delete process.env["TEST_COUNTS_FILE"];
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    let passed = 0;
    let failed = errors.length;
    for (const module of modules) {
      const states = [...module.children.allTests()].map((test) => test.result().state);
      const failedHere = states.filter((state) => state === "failed").length;
      passed += states.filter((state) => state === "passed").length;
      failed += failedHere === 0 && module.state() === "failed" ? 1 : failedHere;
    }
    const line = `${passed} passed, ${failed} failed`;
    if (this.#file === undefined) process.on("exit", () => process.stdout.write(`${line}\n`));
    else writeFileSync(this.#file, line);
  }
}
