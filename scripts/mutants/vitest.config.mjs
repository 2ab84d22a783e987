// The vitest configuration for the copy: the project's configuration with the switches in the sources and test-runner.mjs.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import project from "../../vitest.config.ts";
import { withSwitches } from "./switches.mjs";

const { copy, mutants, files, workers } = JSON.parse(readFileSync(process.env.MUTANTS_PLAN, "utf8"));
const numbered = mutants.map((mutant, number) => ({ ...mutant, number }));

const switches = {
  name: "mutants",
  enforce: "pre",
  transform(code, id) {
    const own = numbered.filter(({ file }) => id.split("?")[0] === join(copy, file));
    return own.length === 0 ? undefined : { code: withSwitches(code, own), map: null };
  },
};
const own = (name) => fileURLToPath(new URL(name, import.meta.url));
// Only the first project, which has the tests of the packages. The others test the keychains and the scripts.
const [{ test, ...rest }] = project.test.projects;

export default {
  root: copy,
  test: {
    ...project.test,
    reporters: ["dot"],
    maxWorkers: workers,
    fileParallelism: workers > 1,
    projects: [
      {
        ...rest,
        plugins: [switches],
        test: {
          ...test,
          root: copy,
          ...(files && { include: files }),
          setupFiles: [own("switch-functions.mjs"), ...test.setupFiles],
          runner: own("test-runner.mjs"),
        },
      },
    ],
  },
};
