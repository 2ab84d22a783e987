// Reads the command line of `npm run mutants`.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { UsageError, wholeNumber } from "../usage.mjs";

export const help = `usage: npm run mutants -- [options]

Makes small mistakes (mutants) in a copy of HEAD, one at a time, and runs the tests that reach them. A mutant is killed when
a test fails, or when its tests hang twice and do not hang without it. A mutant that no test notices has survived. Mutants
with a type error are not counted.

  --count N        how many mutants to try (default: 300; with --at or --again: all)
  --seed S         chooses the mutants: the same seed on the same sources chooses the same (default: from the clock)
  --folder F       only the mutants of this folder, for example core/policy; may be repeated (default: wire, core, cli and gateway)
  --at FILE[:LINE] only the mutants of this file or line, for example core/src/errors.ts:12; may be repeated
  --again FILE     only the mutants that survived an earlier run, which wrote this file with --json
  --tests GLOB     only these test files, for example "packages/core/test/policy/**"; may be repeated (default: all)
  --workers N      how many test files run at the same time (default: 2)
  --json FILE      writes every result to this file
  -h, --help       shows this text

The copy has no uncommitted changes: commit first.
`;

/** Returns the options, with numbers as numbers and the survivors of the file of `--again` as a list. */
export function readOptions(args) {
  const values = parsed(args);
  return {
    ...values,
    count: values.count === undefined ? undefined : wholeNumber("--count", values.count),
    workers: wholeNumber("--workers", values.workers),
    again: values.again === undefined ? undefined : survivorsIn(values.again),
  };
}

function parsed(args) {
  try {
    return parseArgs({
      args,
      options: {
        count: { type: "string" },
        seed: { type: "string", default: String(Date.now() % 100_000) },
        at: { type: "string", multiple: true, default: [] },
        folder: { type: "string", multiple: true, default: [] },
        again: { type: "string" },
        tests: { type: "string", multiple: true },
        json: { type: "string" },
        workers: { type: "string", default: "2" },
        help: { type: "boolean", short: "h", default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error.message);
  }
}

function survivorsIn(file) {
  let content;
  try {
    content = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new UsageError(`cannot read the file of --again: ${error.message}`);
  }
  if (!Array.isArray(content?.results))
    throw new UsageError(`the file of --again was not written by --json: ${file} has no "results"`);
  return content.results.filter(({ state }) => state === "survived");
}
