/** The page as the command's bundle has it. It is built before the tests. */

import { readFileSync } from "node:fs";
import { type PageFiles, readPageFiles } from "../../src/server/door/page-files.ts";

const folder = new URL("../../../cli/bundle/console/", import.meta.url);

export function builtPage(): PageFiles {
  return readPageFiles((name) => readFileSync(new URL(name, folder)));
}
