/** The version of a Python package that `uvx` would run now, as `uv` resolves it. */

import { dirname, join } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { type ExactName, type PinRequest, passedOn } from "./pin-request.ts";

/** Name, extras, and perhaps which versions will do. */
const specification = /^([A-Za-z0-9][\w.-]*)(\[[\w,.-]*\])?((?:[<>=!~]=?|===)[\w.,<>=!~*+-]*|@latest)?$/;
/** Options that both commands have. */
const places = ["--index", "--index-url", "--default-index", "--python"];

export async function pythonVersion({ server, download, options, isOption, run }: PinRequest): Promise<ExactName> {
  const { name: written, launcher } = download;
  const [, name, extras = "", range = ""] = specification.exec(written) ?? [];
  if (name === undefined || !/(?:^|[/\\])uvx?(?:\.exe)?$/.test(launcher))
    throw new HostError("usage", `"${server}" runs ${written} with ${launcher}: that cannot be pinned from here`, {
      serverName: server,
      next: "Write an exact version behind its name: PACKAGE==VERSION.",
    });
  const uv = /[/\\]/.test(launcher) ? join(dirname(launcher), "uv") : "uv";
  const requirement = `${name}${extras}${range === "@latest" ? "" : range}`;
  const asked = ["pip", "compile", "--no-deps", "--no-header", "--no-annotate", ...passedOn(options, places), "-"];
  const { isDone, stdout, stderr } = await run(uv, asked, `${requirement}\n`);
  const lines = stdout.split("\n").map((line) => /^([\w.-]+)(?:\[[^\]]*\])?==([\w.+!-]+)/.exec(line));
  const version = lines.find((found) => normal(found?.[1] ?? "") === normal(name))?.[2];
  if (!isDone || version === undefined)
    throw new HostError("unreachable", `uv does not say which version of ${written} would run: ${lastLine(stderr)}`, {
      serverName: server,
      next: "Try again when the network is there, or write PACKAGE==VERSION yourself.",
    });
  // Behind an option it is a requirement; where it also names the command it is not.
  return { name: `${name}${extras}${isOption ? "==" : "@"}${version}` };
}

/** `_`, `.` and `-` are one and the same in a name. */
function normal(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, "-");
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) || "it said nothing";
}
