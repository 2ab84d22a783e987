/** Warns about a command line before it runs: downloads, versions that are not exact, shell commands. */

import { findDownload, isLoopbackHost, programName } from "@fairlead/core/connect";
import { toShellWord } from "@fairlead/core/plain-text";
import type { ServerDefinition } from "@fairlead/core/settings";
import { parseUrl } from "@fairlead/wire/text";

// The interpreters, each with the option whose value is program code.
const interpreters = [
  {
    program: /^(sh|bash|zsh|dash|ksh|fish|cmd|powershell|pwsh)$/,
    option: /^(-\w*c|\/c|-command|-encodedcommand|-enc)$/i,
  },
  {
    program: /^(node|bun|deno|python[\d.]*|perl|ruby|php|osascript)$/,
    option: /^(-\w*[cepr]|--eval|--print|eval)$/i,
  },
] as const;

/** Whether an interpreter such as `bash` runs an argument as code. Also true for `env bash -c …`. */
export function runsCode(command: string, args: readonly string[]): boolean {
  const words = [command, ...args];
  return interpreters.some(({ program, option }) => {
    const at = words.findIndex((word) => program.test(programName(word)));
    return at >= 0 && words.slice(at + 1).some((word) => option.test(word));
  });
}

/** Returns the warnings as text. They contain untrusted names and must be made safe before they are shown. */
export function launchNotes({ name, transport }: Pick<ServerDefinition, "name" | "transport">): string[] {
  if (transport.kind !== "stdio") {
    const isLocal = isLoopbackHost(parseUrl(transport.url)?.hostname ?? "");
    return /^http:/i.test(transport.url) && !isLocal
      ? ["not encrypted: others on the network can read and change requests"]
      : [];
  }
  const { command, args } = transport;
  const download = findDownload(command, args);
  if (download) {
    const notes = [`downloads and runs code: ${download.name} from ${download.from}`];
    if (!download.pinned)
      notes.push(
        `unpinned: a later start may run another version; to write the exact one: fairlead mcp pin ${toShellWord(name)}`,
      );
    return notes;
  }
  const shell = /^(sh|bash|zsh|dash|fish|cmd|powershell|pwsh)$/.test(programName(command));
  return shell && args.some((word) => /^(-\w*c|\/c|-command|-encodedcommand|-enc)$/i.test(word))
    ? ["runs a shell command: read all of it"]
    : [];
}
