/** `fairlead completion`: prints, installs or uninstalls the shell's completion script. */

import { rm } from "node:fs/promises";
import { HostError } from "@fairlead/core/errors";
import { updateText } from "@fairlead/core/files/atomic/update-text";
import { readText } from "@fairlead/core/files/read-text";
import { limits } from "@fairlead/core/limits";
import { joinSafe, safe, toSafeLine, toSafeText, toVisibleLine } from "@fairlead/core/text/safe-text";
import { Argument } from "commander";
import { type Installation, installationOf, type Startup } from "../completion/installation.ts";
import { type Shell, scriptSignature, scripts, shells } from "../completion/scripts.ts";
import { withBlock, withoutBlock } from "../completion/startup-block.ts";
import { commandWord } from "../shell/command-word.ts";
import { canAsk, confirm } from "../shell/prompt.ts";
import type { Context, Verb } from "../shell/verb.ts";

export const verb: Verb = {
  define(command) {
    command
      .addArgument(new Argument("<shell>", "your shell").choices(shells))
      .addArgument(
        new Argument("[action]", "install or uninstall the script; without it, print the script").choices(actions),
      )
      .option("--yes", "for zsh: change .zshrc without asking")
      .addHelpText(
        "after",
        `
Completes commands, options, servers, tools, parameters, values, resources, prompts and files from the settings and
the catalog cache. Pressing Tab starts no server.

"install" writes the script to the folder where the shell looks for it. zsh also needs two lines in .zshrc; Fairlead
asks before it adds them.

Examples:
  fairlead completion bash install
  fairlead completion zsh install --yes
  fairlead completion fish uninstall
  source <(fairlead completion bash)        for this shell only`,
      );
  },

  async run(context) {
    const { io, out, globals, operands } = context;
    const shell = shells.find((known) => known === operands[0]) ?? "bash";
    const action = actions.find((known) => known === operands[1]);
    const place = installationOf(shell, io);
    switch (action) {
      case undefined:
        if (globals.json) return out.json({ shell, script: scripts[shell] });
        return out.print(toSafeText(scripts[shell].trimEnd()));
      case "install":
        return install(shell, place, context);
      case "uninstall":
        return uninstall(shell, place, context);
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
  if (globals.json)
    return out.json({ shell, file, state, ...(startup && { startup: { ...startup, state: started } }) });
  out.print(state === "written" ? safe`wrote ${toSafeLine(file)}` : safe`${toSafeLine(file)} is up to date`);
  const rc = startup && toSafeLine(startup.file);
  if (startup && rc && started === "missing") {
    out.say(safe`To load it, add these lines to the end of ${rc}, or run the command with --yes:`);
    for (const line of startup.lines) out.say(safe`  ${toSafeLine(line)}`);
  } else if (rc) out.print(started === "written" ? safe`added to ${rc}, at its end` : safe`${rc} loads it already`);
  if (hint !== undefined && started !== "written" && started !== "unchanged") out.say(toSafeLine(hint));
  if (commandWord(io) !== "fairlead")
    out.warn(safe`"fairlead" is not on your PATH: completion works only after you add it.`);
  out.say(safe`To try it, open a new shell, type "fairlead call demo." and press Tab.`);
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
      ...(startup && { startup: { file: startup.file, state: cleared === "written" ? "removed" : "absent" } }),
    });
  out.print(state === "removed" ? safe`removed ${toSafeLine(file)}` : safe`${toSafeLine(file)} does not exist`);
  if (startup && cleared === "written") out.print(safe`removed the lines of fairlead from ${toSafeLine(startup.file)}`);
  if (state === "removed") out.undo(`fairlead completion ${shell} install`);
}

function notOurs(file: string): HostError {
  return new HostError("usage", `${file} was not written by fairlead, so it was not changed`, {
    next: "move that file away, then try again",
  });
}
