/** Reads a file of checks, in YAML or JSON. */

import { resolve } from "node:path";
import { type CheckFile, readCheckFile } from "@fairlead/core/checks/check-file";
import { HostError } from "@fairlead/core/errors";
import { readText } from "@fairlead/core/files/read-text";
import { notRead } from "@fairlead/core/files/system-error";
import { errorMessage } from "@fairlead/wire/text";
import { parse as parseYaml } from "yaml";

const largestFile = 4 * 1024 * 1024;

/**
 * Reads a file of checks.
 * @throws HostError `not_found`, or `usage` with the mistake in the file
 */
export async function loadChecks(
  word: string,
  cwd: string,
): Promise<{ readonly path: string; readonly file: CheckFile }> {
  const path = resolve(cwd, word);
  const found = await readText(path, largestFile);
  switch (found.kind) {
    case "absent":
      throw new HostError("not_found", `the file of checks ${path} does not exist`, {
        next: "fairlead test --help",
      });
    case "unreadable":
      throw notRead(path, found.reason, found.cause);
    case "text":
      return { path, file: readCheckFile(parse(found.text, path), path) };
  }
}

/**
 * Parses YAML, which includes JSON. Limits the number of aliases, because each alias can repeat a large part of the
 * document.
 */
function parse(text: string, path: string): unknown {
  try {
    return parseYaml(text, { maxAliasCount: 100, prettyErrors: true, logLevel: "error" }) as unknown;
  } catch (cause) {
    const [first = ""] = errorMessage(cause).split("\n");
    throw new HostError("usage", `${path} cannot be read: ${first.replace(/:$/, "")}`, { cause });
  }
}
