/** `fairlead skills` lists the skills of servers; `skills show` prints one; `skills get` copies its verified files. */

import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { HostError } from "@fairlead/core/errors";
import type { Host, HostSkill, RequestOptions } from "@fairlead/core/host";
import { sizeWords, toShellWord } from "@fairlead/core/plain-text";
import { ignoredMembers, skillBytes } from "@fairlead/core/server";
import { joinSafe, type SafeText, safe, toSafeLine, toSafeText, toVisibleLine } from "@fairlead/core/text/safe-text";
import { count } from "../output/output.ts";
import { differenceLines } from "../output/policy/rule-lines.ts";
import { descriptionLines, textByServer } from "../output/tools/lists.ts";
import { columnsOf } from "../output/wrap.ts";
import { configurationOf } from "../shell/configuration.ts";
import { confirmTypedRequest } from "../shell/typed-confirmation.ts";
import type { Context, Verb } from "../shell/verb.ts";
import { connectServers } from "../targets/connect-servers.ts";
import { connectServer, namesOf } from "../targets/look-up.ts";
import { defineListOptions, listHelp, warnOfTruncatedLists, withCatalogs } from "../targets/with-catalogs.ts";
import { useHost } from "../targets/with-host.ts";

const list: Verb = {
  help: `${listHelp("skills")}
A skill is a folder of instructions (SKILL.md) and files that a server offers. Its
name is a label: two servers, or two folders of one server, may use the same.

Examples:
  fairlead skills
  fairlead skills docs
  fairlead skills docs --json`,

  define(command) {
    defineListOptions(command, "skills");
  },

  async run(context) {
    await withCatalogs(context, ({ host, server }) => {
      const skills = host.skills(server);
      const unusable = unusableSkills(host, server);
      warnOfTruncatedLists(host, server, ["skills"], context);
      if (context.globals.json) return context.out.json({ skills: skills.map(toDocument), unusable });
      print(skills, context);
      for (const { server: name, uri, reason } of unusable)
        context.out.warn(
          safe`"${toSafeLine(name)}": skill ${toVisibleLine(uri)} cannot be used: ${toSafeLine(reason)}`,
        );
    });
  },
};

interface UnusableSkill {
  readonly server: string;
  readonly uri: string;
  readonly reason: string;
}

function unusableSkills(host: Host, server: string | undefined): readonly UnusableSkill[] {
  const names = server === undefined ? host.states().map(({ name }) => name) : [server];
  return names.flatMap((name) =>
    (host.catalog(name)?.dropped ?? []).flatMap(({ kind, name: uri = "", reason }) =>
      kind === "skills" ? [{ server: name, uri, reason }] : [],
    ),
  );
}

function print(skills: readonly HostSkill[], { io, out }: Context): void {
  const columns = columnsOf(io.stdout);
  const text = textByServer(skills, (server, own) =>
    joinSafe(
      [
        safe`${out.style.bold(toVisibleLine(server))}: ${count(own.length, "skill")}`,
        ...own.map((skill) => {
          const title = safe`  ${out.style.cyan(toVisibleLine(skill.label))} (${factsOf(skill)})`;
          return joinSafe([title, ...descriptionLines(skill.description, { columns, all: false })]);
        }),
      ],
      safe`\n\n`,
    ),
  );
  if (text !== undefined) out.print(text);
  else
    out.say(
      safe`No skills to show. A server offers skills if it declares the extension io.modelcontextprotocol/skills.`,
    );
}

/** The number of files, their size, and whether the user must accept them again. */
function factsOf(skill: HostSkill): SafeText {
  const bytes = skillBytes(skill);
  const size =
    bytes === undefined
      ? safe`dynamic files`
      : safe`${count(skill.files?.length ?? 0, "file")}, ${toSafeLine(sizeWords(bytes))}`;
  return skill.isChanged ? safe`${size}, changed since you accepted it` : size;
}

function toDocument(skill: HostSkill): object {
  const { server, name, label, uri, description, files, digest, isChanged } = skill;
  return {
    server,
    name,
    label,
    uri,
    description,
    files: files ?? "dynamic",
    bytes: skillBytes(skill),
    digest,
    isChanged,
  };
}

// `fairlead skills show`

const named = "the skill's name or URI, after the server's name and a slash: docs/pdf; the server may be left out";

interface Options {
  readonly yes?: boolean;
}

const show: Verb = {
  help: `
Prints a skill: its description, its files with sizes and digests, and its
instructions (SKILL.md). Fairlead reads SKILL.md only if it equals the size and the
digest in the skill's entry, and its frontmatter equals the entry's. If files have
changed since you accepted them, shows the difference and asks whether to accept it.

Examples:
  fairlead skills show pdf
  fairlead skills show docs/pdf
  fairlead skills show docs/acme/billing/refunds --json`,

  define(command) {
    command
      .argument("<skill>", named)
      .option("--yes", "accept changed files and confirm in advance; deny rules still apply");
  },

  async run(context) {
    const { yes: isYes = false } = context.command.opts<Options>();
    await withSkill(context, async (skill, host) => {
      const { out, globals } = context;
      const change = await host.changeOf(skill.server, skill.uri, "skill");
      const ignored = ignoredMembers(skill);
      if (!globals.json) out.print(aboutText(skill, change, ignored, out.style));
      const options = await typedOptions(skill, isYes, host, context);
      const reading = host.readSkill(skill.server, skill.uri, { signal: context.io.signal, ...options.options });
      const { bytes } = await options.withAdvice(reading);
      const instructions = bytes.toString("utf8");
      if (globals.json)
        out.json({ skill: toDocument(skill), frontmatter: skill.frontmatter, ignored, change, instructions });
      else out.print(safe`\n${toSafeText(instructions)}`);
    });
  },
};

function aboutText(
  skill: HostSkill,
  change: Awaited<ReturnType<Host["changeOf"]>>,
  ignored: readonly string[],
  style: Context["out"]["style"],
): SafeText {
  const files = skill.files?.map(
    ({ path, size, digest }) =>
      safe`  ${toVisibleLine(path)}  ${toSafeLine(sizeWords(size))}  sha256:${toSafeLine(digest)}`,
  );
  return joinSafe([
    safe`${style.bold(toVisibleLine(skill.name))} of ${toVisibleLine(skill.server)}: ${toVisibleLine(skill.description)}`,
    safe`${toVisibleLine(skill.uri)}`,
    ...(files ?? [safe`  dynamic files: the server generates them, so Fairlead cannot verify them and asks each time`]),
    ...(ignored.length === 0 ? [] : [safe`ignored in its frontmatter: ${toVisibleLine(ignored.join(", "))}`]),
    ...(change === undefined ? [] : [safe`changed since you accepted it:`, ...differenceLines(change, safe`  `)]),
  ]);
}

// `fairlead skills get`

const get: Verb = {
  help: `
Copies the files of a skill into a new or empty folder. Fairlead reads all files
first, and writes them only if each equals the size and the digest in the skill's
entry. It runs none of them.

Examples:
  fairlead skills get docs/pdf ./pdf
  fairlead skills get pdf ./pdf --yes`,

  define(command) {
    command
      .argument("<skill>", named)
      .argument("<dir>", "the folder to copy the files into; created if it does not exist")
      .option("--yes", "accept changed files and confirm in advance; deny rules still apply");
  },

  async run(context) {
    const { yes: isYes = false } = context.command.opts<Options>();
    const { io, out, globals, operands } = context;
    const folder = resolve(io.cwd, operands[1] ?? ".");
    await refuseFullFolder(folder);
    await withSkill(context, async (skill, host) => {
      const { server, uri, name, files } = skill;
      if (files === undefined)
        throw new HostError("usage", `skill ${name} of "${server}" cannot be copied: its files are dynamic`, {
          serverName: server,
        });
      const first = await typedOptions(skill, isYes, host, context);
      const read = (file: string, options: RequestOptions): ReturnType<Host["readSkill"]> =>
        host.readSkill(server, uri, { signal: io.signal, ...options, file });
      const contents = [await first.withAdvice(read("SKILL.md", first.options))];
      // The user has confirmed the skill with all its files.
      for (const { path } of files) if (path !== "SKILL.md") contents.push(await read(path, { confirmed: true }));
      for (const { path, bytes } of contents) {
        const target = join(folder, ...path.split("/"));
        await mkdir(dirname(target), { recursive: true });
        await writeFile(target, bytes, { flag: "wx" });
      }
      const bytes = skillBytes(skill) ?? 0;
      if (globals.json) out.json({ skill: toDocument(skill), folder, files: contents.map(({ path }) => path) });
      else
        out.show(
          safe`copied ${count(contents.length, "file")} (${toSafeLine(sizeWords(bytes))}) of ${toVisibleLine(`${server}/${skill.label}`)} to ${toVisibleLine(folder)}`,
        );
    });
  },
};

/** Refuses a folder with files: a copy must not replace any. */
async function refuseFullFolder(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new HostError("usage", `${folder} is not a folder that can be written`, { cause: error });
  });
  if (names.length > 0) throw new HostError("usage", `${folder} is not empty`, { next: "name a new folder" });
}

async function typedOptions(
  { server, label }: HostSkill,
  isYes: boolean,
  host: Host,
  context: Context,
): ReturnType<typeof confirmTypedRequest> {
  return confirmTypedRequest({ title: `${server}/${label}`, isYes }, host, context);
}

/** Opens a host and finds the skill that the first operand names. */
async function withSkill(context: Context, use: (skill: HostSkill, host: Host) => Promise<void>): Promise<void> {
  const [word = ""] = context.operands;
  await useHost(await configurationOf(context), context, async (host) =>
    use(await findSkill(word, host, context), host),
  );
}

/**
 * Finds `SERVER/NAME`, or a bare name that only one server has.
 *
 * @throws HostError `usage` that lists the skills if several have the name, `not_found`
 */
async function findSkill(word: string, host: Host, context: Context): Promise<HostSkill> {
  const names = namesOf(host);
  const recalled = await host.recall();
  const [server] = names.filter((name) => word.startsWith(`${name}/`)).sort((a, b) => b.length - a.length);
  if (server !== undefined) {
    const name = word.slice(server.length + 1);
    if (!(await host.explain(server, name, undefined, { kind: "skill", typed: true })).isDeniedByName)
      await connectServer(server, host, context);
    return host.findSkill(server, name, { signal: context.io.signal });
  }
  const cached = new Set(recalled.map((one) => one.server));
  await connectServers(
    host,
    names.filter((name) => !cached.has(name)),
    context,
  );
  const found = host.skills().filter(({ name, label, uri }) => [name, label, uri].includes(word));
  const [only, second] = found;
  if (only === undefined)
    throw new HostError("not_found", `no server has a skill "${word}"`, { next: "fairlead skills" });
  if (second === undefined) return only;
  const ways = found.map(({ server: name, label }) => toShellWord(`${name}/${label}`));
  throw new HostError("usage", `"${word}" is ambiguous, ${found.length} skills have this name: ${ways.join(", ")}`, {
    next: `fairlead skills show ${ways[0]}`,
  });
}

export const verbs: Readonly<Record<"list" | "show" | "get", Verb>> = { list, show, get };
