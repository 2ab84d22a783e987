/** Where each shell looks for completions, and what its startup file needs for that. Pure. */

import { dirname, join } from "node:path";
import { toShellWord } from "@fairlead/core/text/shell-word";
import type { Io } from "../shell/io.ts";
import type { Shell } from "./scripts.ts";

export interface Installation {
  readonly file: string;
  /** Which startup file has to have which lines; without it, the shell finds the file by itself. */
  readonly startup?: Startup;
  /** For who presses Tab and sees nothing. */
  readonly hint?: string;
}

export interface Startup {
  readonly file: string;
  readonly lines: readonly string[];
}

export function installationOf(shell: Shell, { env, home }: Pick<Io, "env" | "home">): Installation {
  // The XDG specification says so: a relative folder is ignored.
  const folderFrom = (name: string): string | undefined => (env[name]?.startsWith("/") ? env[name] : undefined);
  const data = folderFrom("XDG_DATA_HOME") ?? join(home, ".local", "share");
  switch (shell) {
    case "bash": {
      const folder = folderFrom("BASH_COMPLETION_USER_DIR") ?? join(data, "bash-completion");
      const file = join(folder, "completions", "fairlead");
      return {
        file,
        hint: `Bash finds it through the package bash-completion; without that, add to ~/.bashrc: source ${toShellWord(file)}`,
      };
    }
    case "zsh": {
      const file = join(data, "zsh", "site-functions", "_fairlead");
      return {
        file,
        startup: {
          file: join(folderFrom("ZDOTDIR") ?? home, ".zshrc"),
          // Works before and after a compinit of one's own, and if the folder is in fpath already.
          lines: ["(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }", `source ${toShellWord(file)}`],
        },
        hint: `Not needed if ${dirname(file)} is in your fpath.`,
      };
    }
    case "fish":
      return { file: join(folderFrom("XDG_CONFIG_HOME") ?? join(home, ".config"), "fish/completions/fairlead.fish") };
  }
}
