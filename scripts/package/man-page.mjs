// Makes the man page from the help of the built command.
import { commandHelp, globalOptions, outputOf } from "../command-help.mjs";

/** Returns the man page as roff. */
export async function manPage() {
  const [{ overview, commands }, version, errors] = await Promise.all([
    commandHelp(),
    outputOf("--version"),
    outputOf("help", "errors"),
  ]);
  const [summary = "", ...rest] = overview.split("\n\n");
  const [, ...codes] = errors.split("\n\n", 1)[0].split("\n");
  return [
    `.TH FAIRLEAD 1 "" "Fairlead ${version.trim()}" "User Commands"`,
    ".SH NAME",
    `fairlead \\- ${text(summary.replace(/^Fairlead /, "").replace(/[.]$/, ""))}`,
    ".SH SYNOPSIS",
    ".B fairlead",
    "[\\fIoptions\\fR] [\\fIcommand\\fR]",
    ".SH DESCRIPTION",
    text(summary),
    ".PP",
    ...verbatim(rest.join("\n\n")),
    ".SH COMMANDS",
    ...commands.flatMap(({ name, help }) => [
      `.SS fairlead ${text(name)}`,
      ...verbatim(help.replace(globalOptions, "")),
    ]),
    '.SH "EXIT STATUS"',
    "0 means success. The other codes, by the name that \\-\\-json prints:",
    ...codes.flatMap((line) => {
      const found = /^(\S+) +(\d+) +(.*)$/.exec(line);
      if (found === null) return [];
      const [, code, exit, meaning] = found;
      return [".TP", `${exit}  ${text(code)}`, text(meaning)];
    }),
    ".SH FILES",
    ".TP",
    text("~/.gemini/settings.json"),
    "The servers, and all other settings.",
    ".TP",
    text("~/.fairlead"),
    "Approvals, history, logs, the catalog cache, and secrets if there is no keychain. The variable FAIRLEAD_HOME names another folder.",
    "",
  ].join("\n");
}

/** Lines that stay as they are. */
function verbatim(block) {
  return [".nf", ...block.trimEnd().split("\n").map(text), ".fi"];
}

/** Characters that roff would print as a similar one, for example a hyphen as a dash: commands could not be copied. */
const printed = { "\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti" };

/** A dot at the beginning of a line would be a request. */
function text(line) {
  const escaped = line.replaceAll(
    /[\\\-'`^~]|[^ -~]/gu,
    (character) => printed[character] ?? `\\[u${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`,
  );
  return escaped.startsWith(".") ? `\\&${escaped}` : escaped;
}
