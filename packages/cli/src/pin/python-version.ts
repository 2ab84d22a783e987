/** Finds the version of a Python package that `uvx` would run now, using `uv pip compile`. */

import { dirname, join } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { type ExactName, type PinRequest, passedOn } from "./pin-request.ts";

/** Name, extras, and an optional version range. */
const specification = /^([A-Za-z0-9][\w.-]*)(\[[\w,.-]*\])?((?:[<>=!~]=?|===)[\w.,<>=!~*+-]*|@latest)?$/;
/** Options that `uvx` and `uv pip compile` share. */
const places = ["--index", "--index-url", "--default-index", "--python"];

export async function pythonVersion({ server, download, options, isOption, run }: PinRequest): Promise<ExactName> {
  const { name: written, launcher } = download;
  const [, name, extras = "", range = ""] = specification.exec(written) ?? [];
  if (name === undefined || !/(?:^|[/\\])uvx?(?:\.exe)?$/.test(launcher))
    throw new HostError(
      "usage",
      `"${server}" cannot be pinned: Fairlead does not support ${written} with ${launcher}`,
      {
        serverName: server,
        next: "write the exact version yourself: PACKAGE==VERSION",
      },
    );
  const uv = /[/\\]/.test(launcher) ? join(dirname(launcher), "uv") : "uv";
  const requirement = `${name}${extras}${range === "@latest" ? "" : range}`;
  const asked = ["pip", "compile", "--no-deps", "--no-header", "--no-annotate", ...passedOn(options, places), "-"];
  const { isDone, stdout, stderr } = await run(uv, asked, `${requirement}\n`);
  const lines = stdout.split("\n").map((line) => /^([\w.-]+)(?:\[[^\]]*\])?==([\w.+!-]+)/.exec(line));
  const version = lines.find((found) => normal(found?.[1] ?? "") === normal(name))?.[2];
  if (!isDone || version === undefined)
    throw new HostError("unreachable", `version of ${written} not found: uv: ${lastLine(stderr)}`, {
      serverName: server,
      next: "try again with a network connection, or write PACKAGE==VERSION yourself",
    });
  // `--from` takes a requirement (==); the command itself takes NAME@VERSION.
  return { name: `${name}${extras}${isOption ? "==" : "@"}${version}` };
}

/** Package names treat `_`, `.` and `-` as the same character. */
function normal(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, "-");
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) || "it said nothing";
}
