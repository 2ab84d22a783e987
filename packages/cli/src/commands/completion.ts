/** `fairlead completion`: prints, installs or uninstalls the shell's completion script. */

import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { readText, updateText } from "@fairlead/core/files";
import { limits } from "@fairlead/core/limits";
import { toShellWord } from "@fairlead/core/plain-text";
import { joinSafe, safe, toSafeLine, toSafeText, toVisibleLine } from "@fairlead/core/text/safe-text";
import { Argument } from "commander";
import { type Shell, scriptSignature, scripts, shells } from "../completion/scripts.ts";
import { commandWord } from "../shell/command-word.ts";
import { canAsk, confirm } from "../shell/prompt.ts";
import type { Context, Io, Verb } from "../shell/verb.ts";

export const verb: Verb = {
  help: `
Completes commands, options, servers, tools, parameters, values, resources, prompts and files from the settings and
the catalog cache. Pressing Tab starts no server.

"install" writes the script to the folder where the shell looks for it. zsh also needs two lines in .zshrc; Fairlead
asks before it adds them.

Examples:
  fairlead completion bash install
  fairlead completion zsh install --yes
  fairlead completion fish uninstall
  source <(fairlead completion bash)        for this shell only`,

  define(command) {
    command
      .addArgument(new Argument("<shell>", "your shell").choices(shells))
      .addArgument(
        new Argument("[action]", "install or uninstall the script; without this word, print the script").choices(
          actions,
        ),
      )
      .option("--yes", "for zsh: change .zshrc without asking");
  },

  async run(context) {
    const { io, out, globals, operands } = context;
    const shell = shells.find((name) => name === operands[0]) ?? "bash";
    const action = actions.find((name) => name === operands[1]);
    const installation = installationOf(shell, io);
    switch (action) {
      case undefined:
        if (globals.json) return out.json({ shell, script: scripts[shell] });
        return out.print(toSafeText(scripts[shell].trimEnd()));
      case "install":
        return install(shell, installation, context);
      case "uninstall":
        return uninstall(shell, installation, context);
    }
  },
};

const actions = ["install", "uninstall"] as const;

async function install(shell: Shell, { file, startup, hint }: Installation, context: Context): Promise<void> {
  const { io, out, globals } = context;
  const state = await updateText(file, (text) => {
    if (text !== undefined && !text.includes(scriptSignature)) throw notOurs(file);
    return scripts[shell];
  });
  const started = startup && (await addLines(startup, context));
  if (globals.json) return out.json({ shell, file, state, startup: startup && { ...startup, state: started } });
  out.show(state === "written" ? safe`wrote ${toSafeLine(file)}` : safe`${toSafeLine(file)} is up to date`);
  const rc = startup && toSafeLine(startup.file);
  if (startup && rc && started === "missing") {
    out.say(safe`To load the script, add these lines to the end of ${rc}, or run the command with --yes:`);
    for (const line of startup.lines) out.say(safe`  ${toSafeLine(line)}`);
  } else if (rc)
    out.show(started === "written" ? safe`added to the end of ${rc}` : safe`${rc} already loads the script`);
  if (hint !== undefined && started !== "written" && started !== "unchanged") out.say(toSafeLine(hint));
  if (commandWord(io) !== "fairlead")
    out.warn(safe`"fairlead" is not on your PATH: completion works only after you add its folder to the PATH.`);
  out.say(safe`To try completion, open a new shell, type "fairlead call demo." and press Tab.`);
  if (state === "written" || started === "written") out.undo(`fairlead completion ${shell} uninstall`);
}

async function addLines(
  { file, lines }: Startup,
  { io, command }: Context,
): Promise<"written" | "unchanged" | "missing"> {
  const found = await readText(file, limits.settingsBytes);
  const before = found.kind === "text" ? found.text : "";
  if (found.kind !== "unreadable" && withBlock(before, lines) === before) return "unchanged";
  const { yes = false } = command.opts<{ readonly yes?: boolean }>();
  const shown = joinSafe(lines.map((line) => safe`  ${toVisibleLine(line)}`));
  const isWanted =
    yes || (canAsk(io) && (await confirm(io, safe`${shown}\nAdd these lines to the end of ${toVisibleLine(file)}?`)));
  return isWanted ? updateText(file, (text = "") => withBlock(text, lines)) : "missing";
}

async function uninstall(shell: Shell, { file, startup }: Installation, { out, globals }: Context): Promise<void> {
  const found = await readText(file, limits.settingsBytes);
  if (found.kind !== "absent" && !(found.kind === "text" && found.text.includes(scriptSignature))) throw notOurs(file);
  await rm(file, { force: true });
  const state = found.kind === "absent" ? "absent" : "removed";
  const cleared = startup && (await updateText(startup.file, (text) => text && withoutBlock(text)));
  if (globals.json)
    return out.json({
      shell,
      file,
      state,
      startup: startup && { file: startup.file, state: cleared === "written" ? "removed" : "absent" },
    });
  out.show(state === "removed" ? safe`removed ${toSafeLine(file)}` : safe`${toSafeLine(file)} does not exist`);
  if (startup && cleared === "written") out.show(safe`removed Fairlead's lines from ${toSafeLine(startup.file)}`);
  if (state === "removed") out.undo(`fairlead completion ${shell} install`);
}

function notOurs(file: string): HostError {
  return new HostError("usage", `${file} was not written by fairlead, so it was not changed`, {
    next: "move that file away, then try again",
  });
}

const [begin, end] = ["# >>> fairlead completion >>>", "# <<< fairlead completion <<<"];
/** Matches Fairlead's block in a startup file, with the empty line that Fairlead puts before the block. */
const block = new RegExp(`(?:(?<=\\n)\\n)?^${begin}\\n[\\s\\S]*?^${end}$\\n?`, "m");

/** Returns the startup file's text with Fairlead's block at its end, or unchanged if it already has that block. */
function withBlock(text: string, lines: readonly string[]): string {
  const ours = `${[begin, ...lines, end].join("\n")}\n`;
  if (text.includes(ours)) return text;
  const others = withoutBlock(text);
  return `${others}${others === "" || others.endsWith("\n") ? "" : "\n"}${others === "" ? "" : "\n"}${ours}`;
}

function withoutBlock(text: string): string {
  return text.replace(block, "");
}

interface Installation {
  readonly file: string;
  /** The startup file and the lines to add to it. Absent if the shell finds the script without such lines. */
  readonly startup?: Startup;
  /** Advice about the shell's setup. Not printed if the startup file has Fairlead's lines. */
  readonly hint?: string;
}

interface Startup {
  readonly file: string;
  readonly lines: readonly string[];
}

/** Returns where the shell looks for completion scripts, and the lines that its startup file needs. */
export function installationOf(shell: Shell, { env, home }: Pick<Io, "env" | "home">): Installation {
  // Relative paths in XDG variables are ignored, as the XDG specification requires.
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
          // The first line starts zsh's completion system if it has not started yet.
          lines: ["(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }", `source ${toShellWord(file)}`],
        },
        hint: `You do not need these lines if ${dirname(file)} is in your fpath.`,
      };
    }
    case "fish":
      return { file: join(folderFrom("XDG_CONFIG_HOME") ?? join(home, ".config"), "fish/completions/fairlead.fish") };
  }
}
