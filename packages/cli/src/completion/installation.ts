/** Finds the file where each shell looks for completions, and the startup lines it needs. Pure. */

import { dirname, join } from "node:path";
import { toShellWord } from "@fairlead/core/text/shell-word";
import type { Io } from "../shell/io.ts";
import type { Shell } from "./scripts.ts";

export interface Installation {
  readonly file: string;
  /** The lines that a startup file needs; absent if the shell finds the script by itself. */
  readonly startup?: Startup;
  /** Help for a user whose Tab key completes nothing. */
  readonly hint?: string;
}

export interface Startup {
  readonly file: string;
  readonly lines: readonly string[];
}

export function installationOf(shell: Shell, { env, home }: Pick<Io, "env" | "home">): Installation {
  // The XDG specification ignores relative folders.
  const folderFrom = (name: string): string | undefined => (env[name]?.startsWith("/") ? env[name] : undefined);
  const data = folderFrom("XDG_DATA_HOME") ?? join(home, ".local", "share");
  switch (shell) {
    case "bash": {
      const folder = folderFrom("BASH_COMPLETION_USER_DIR") ?? join(data, "bash-completion");
      const file = join(folder, "completions", "fairlead");
      return {
        file,
        hint: `bash needs the package bash-completion; without it, add to ~/.bashrc: source ${toShellWord(file)}`,
      };
    }
    case "zsh": {
      const file = join(data, "zsh", "site-functions", "_fairlead");
      return {
        file,
        startup: {
          file: join(folderFrom("ZDOTDIR") ?? home, ".zshrc"),
          // Works before and after the user's own compinit, and if the folder is already in fpath.
          lines: ["(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }", `source ${toShellWord(file)}`],
        },
        hint: `Not needed if ${dirname(file)} is in your fpath.`,
      };
    }
    case "fish":
      return { file: join(folderFrom("XDG_CONFIG_HOME") ?? join(home, ".config"), "fish/completions/fairlead.fish") };
  }
}
