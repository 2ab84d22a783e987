/** Finds the files of the console's page in the bundle. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type PageFiles, readPageFiles } from "@fairlead/console/server/door/page-files";
import { isSingleExecutable } from "../shell/version.ts";

/** The folder of this file. Only the bundle has this variable, because the bundle is a CommonJS module. */
declare const __dirname: string | undefined;

/** The folder of the page in the bundle. In the single executable, it is the beginning of the assets' names. */
const folder = "console";

/** @throws Error if Fairlead is not built */
export function bundledPage(): PageFiles {
  if (isSingleExecutable()) {
    const { getRawAsset } = process.getBuiltinModule("node:sea");
    return readPageFiles((name) => Buffer.from(getRawAsset(`${folder}/${name}`) as ArrayBuffer));
  }
  const here = typeof __dirname === "string" ? __dirname : "";
  return readPageFiles((name) => readFirst([here, join(here, "../../bundle")], join(folder, name)));
}

function readFirst([first = "", ...others]: readonly string[], name: string): Buffer {
  try {
    return readFileSync(join(first, name));
  } catch (error) {
    if (others.length === 0) throw error;
    return readFirst(others, name);
  }
}
