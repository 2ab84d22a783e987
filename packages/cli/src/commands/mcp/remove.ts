/** `fairlead mcp remove`: removes an entry from the settings. */

import { HostError } from "@fairlead/core/errors";
import { explain, parseJsonc, removeValue, updateText } from "@fairlead/core/files";
import { toShellWord } from "@fairlead/core/plain-text";
import { removeSkills } from "@fairlead/core/server";
import { childNode, type Origin, plainValueOf, readSource, removeServer } from "@fairlead/core/settings";
import { safe, toSafeJson, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { type Configuration, revoke } from "@fairlead/core/trust";
import { member } from "@fairlead/wire/json";
import { configurationIfTrusted } from "../../shell/configuration.ts";
import type { Context, Globals, Verb } from "../../shell/verb.ts";
import {
  type Destination,
  destinationOf,
  isApproved,
  placesOf,
  placeWords,
  removeLine,
  restore,
  type ScopeWord,
  scopeOption,
  type Undo,
} from "./add/destination.ts";
import { findServer } from "./find-server.ts";

export const verb: Verb = {
  help: `
Keeps comments and everything else in the file. Prints a command that restores the entry.

Examples:
  fairlead mcp remove github
  fairlead mcp remove -s user github`,

  define(command) {
    command.argument("<name>", "name of the server (see: fairlead mcp list)");
    scopeOption(command, "the settings to remove the server from; needed only if the server is in both");
  },

  async run(context) {
    const { out, globals, command, operands } = context;
    const [name = ""] = operands;
    const configuration = await configurationIfTrusted(context);
    const destination = choose(name, configuration, command.opts<{ scope?: ScopeWord }>().scope, globals);
    const { scope, file } = destination;
    const approved = await isApproved(name, configuration);
    const { approvalFolder } =
      configuration.servers.find(({ server }) => server.name === name)?.server.definition ?? {};
    const { removed } = await removeServer(file, name, destination.edit);
    if (removed === undefined) throw await whyNotThere(name, destination);
    const isLast = placesOf(name, configuration).length <= 1;
    const extras = await removeServerOptions(name, destination, isLast);
    const { state, root } = configuration.locations;
    const isWorkspace = scope === "workspace";
    const approvalFailure = isWorkspace ? await failureOf(revoke(state, root, [name])) : undefined;
    const skillsOwner = isWorkspace ? approvalFolder : undefined;
    const skillsFailure = isLast ? await failureOf(removeSkills(state, name, skillsOwner)) : undefined;
    const bundleFailure = await failureOf(removeBundle(removed, context));
    const sandbox = member(extras, "sandbox");
    const origin = isLast ? member(extras, "origin") : undefined;
    const before = {
      name,
      entry: removed,
      approved,
      origin,
      ...(sandbox !== undefined && { sandbox: { before: sandbox } }),
    };
    const undo = withSwitch(restore(before, destination, context), isLast ? extras : undefined, name, context);
    if (globals.json)
      return out.json({
        name,
        scope,
        file,
        removed: true,
        undo: "undo" in undo ? undo.undo.join(" && ") : undefined,
      });
    out.show(safe`removed "${toVisibleLine(name)}" from ${toSafeLine(file)} (${toSafeLine(scope)})`);
    if (extras !== undefined)
      out.say(
        safe`also removed: fairlead.servers.${toVisibleLine(name)}${isLast ? safe`` : safe`.sandbox`}, which was ${toSafeJson(isLast ? extras : sandbox, 0)}`,
      );
    if (approvalFailure !== undefined)
      out.warn(safe`warning: the server's approval could not be removed: ${toSafeLine(approvalFailure)}`);
    if (bundleFailure !== undefined)
      out.warn(safe`warning: the files of the bundle could not be removed: ${toSafeLine(bundleFailure)}`);
    if (skillsFailure !== undefined)
      out.warn(safe`warning: the server's saved skills could not be removed: ${toSafeLine(skillsFailure)}`);
    if ("undo" in undo) out.undo(...undo.undo);
    else out.say(safe`cannot be undone: ${toSafeLine(undo.noUndo)}`);
  },
};

/**
 * Removes `fairlead.servers.NAME`, so that a later server of the same name does not get these options. If the name has
 * another entry, removes only the sandbox: it belongs to the removed program. Returns the options that had it.
 */
async function removeServerOptions(name: string, { file, edit }: Destination, isLast: boolean): Promise<unknown> {
  const options = ["fairlead", "servers", name];
  const path = isLast ? options : [...options, "sandbox"];
  let forgotten: unknown;
  const forget = (text: string | undefined): string | undefined => {
    const { root } = parseJsonc(text ?? "");
    const node = childNode(root, ...path);
    const found = node && childNode(root, ...options);
    forgotten = found && plainValueOf(found);
    return text === undefined || node === undefined ? undefined : removeValue(text, path);
  };
  await updateText(file, forget, edit);
  return forgotten;
}

/** The reason why something that belongs to the removed entry stays. The command still prints how to restore the entry. */
async function failureOf(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(() => undefined, explain);
}

/** Removes the files of a bundle that no other entry runs. They are kept aside for a week, so that undo works. */
async function removeBundle(entry: unknown, context: Context): Promise<void> {
  const { bundleFolderIn, setBundleAside } = await import("@fairlead/registry/bundles/bundle");
  const { locations, servers } = await configurationIfTrusted(context);
  const folder = bundleFolderIn(entry, locations.state);
  if (folder === undefined) return;
  const isUsed = servers.some(({ server: { definition } }) => {
    const transport = definition?.transport;
    return (
      transport?.kind === "stdio" && bundleFolderIn([transport.command, ...transport.args], locations.state) === folder
    );
  });
  if (!isUsed) await setBundleAside(folder, locations.state);
}

type UndoLines = { readonly undo: readonly string[] } | { readonly noUndo: string };

/** Returns the commands that restore the entry and, if the server was disabled, disable it again. */
function withSwitch(undo: Undo, extras: unknown, name: string, { globals }: Context): UndoLines {
  if ("noUndo" in undo) return undo;
  const wasOff = member(extras, "enabled") === false;
  const disable = `fairlead mcp disable ${placeWords(globals)}${toShellWord(name)}`;
  return { undo: wasOff ? [undo.undo, disable] : [undo.undo] };
}

async function whyNotThere(name: string, { scope, file }: Destination): Promise<HostError> {
  const source = await readSource(scope, file);
  const line = name === "mcp" ? childNode(source.root, "mcp", "serverCommand") : undefined;
  if (line === undefined)
    return new HostError("server_unknown", `"${name}" is not in ${file}`, {
      serverName: name,
      next: "fairlead mcp list",
    });
  const where = `${file}:${source.originOf(line).line}`;
  return new HostError("usage", `the server "mcp" has no entry: mcp.serverCommand defines it in ${where}`, {
    serverName: name,
    next: `remove "serverCommand" from "mcp" in ${where}, or: fairlead mcp disable mcp`,
  });
}

function choose(
  name: string,
  configuration: Configuration,
  wanted: ScopeWord | undefined,
  globals: Globals,
): Destination {
  if (wanted !== undefined) return destinationOf(wanted, configuration.locations);
  findServer(configuration, name);
  const locations = placesOf(name, configuration);
  const words = new Set(locations.flatMap(({ scope }) => wordOf(scope)));
  const [word] = words;
  if (word === undefined)
    throw new HostError("usage", `"${name}" is in ${locations[0]?.file}, a system file that Fairlead does not edit`, {
      next: `fairlead mcp disable ${toShellWord(name)}`,
    });
  if (words.size > 1)
    throw new HostError("usage", `"${name}" is in both the user's and the project's settings`, {
      next: [...words].map((scope) => removeLine(name, scope, globals)).join(" or: "),
    });
  return destinationOf(word, configuration.locations);
}

function wordOf(scope: Origin["scope"]): ScopeWord[] {
  if (scope === "user") return ["user"];
  return scope === "workspace" ? ["project"] : [];
}
