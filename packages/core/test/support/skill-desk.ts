/** A host with servers that have skills, which a test can change, and the requests that each server was sent. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { createOpenedHost, type OpenedHost } from "../../src/host.ts";
import type { HostOptions } from "../../src/index.ts";

/** A skill as the test server serves it; see `skills.mjs`. */
export interface ServedSkill {
  readonly path: string;
  readonly files: Readonly<Record<string, string>>;
  readonly entry?: object;
  readonly served?: Readonly<Record<string, string>>;
  readonly unsent?: readonly string[];
  readonly isUnlisted?: boolean;
}

export interface ServedSkills {
  readonly skills?: readonly ServedSkill[];
  readonly many?: number;
  /** Resources that are no files of skills, by address. */
  readonly texts?: Readonly<Record<string, string>>;
  readonly directoryRead?: boolean;
}

export interface SkillDesk extends TemporaryFolder {
  /** Opens a host, which the test disposes of. */
  open(options?: HostOptions): Promise<OpenedHost>;
  serve(server: string, skills: ServedSkills): Promise<unknown>;
  /** The reads and entries that the server was asked for. */
  asked(server: string): Promise<readonly string[]>;
}

/** The text of a `SKILL.md`. */
export function instructions(name: string, body = "Do it.", more = ""): string {
  return `---\nname: ${name}\ndescription: Works with ${name} files\n${more}---\n${body}\n`;
}

/** A skill with a `SKILL.md` and further files. */
export function skill(name: string, files: Readonly<Record<string, string>> = {}, path = name): ServedSkill {
  return { path, files: { "SKILL.md": instructions(name), ...files } };
}

export async function skillDesk(
  servers: Readonly<Record<string, ServedSkills>>,
  { rules = "" }: { readonly rules?: string } = {},
): Promise<SkillDesk> {
  const folder = await temporaryFolder();
  const home = join(folder.path, "home");
  await folder.write("home/.gemini/policies/mine.toml", rules);
  const serve = (server: string, skills: ServedSkills): Promise<unknown> => folder.write(`${server}.json`, skills);
  const entries: [string, object][] = [];
  for (const [name, skills] of Object.entries(servers)) {
    await serve(name, skills);
    await folder.write(`${name}.diary`, "");
    entries.push([name, stdioServer("skills", join(folder.path, `${name}.json`), join(folder.path, `${name}.diary`))]);
  }
  const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none") };
  const environment = { env, home, cwd: home, platform: process.platform };
  await folder.write("home/.gemini/settings.json", { mcpServers: Object.fromEntries(entries) });
  return {
    ...folder,
    serve,
    open: (options = {}) => createOpenedHost({ environment, workspace: false, recover: false, ...options }),
    async asked(server) {
      const lines = (await readFile(join(folder.path, `${server}.diary`), "utf8")).split("\n");
      return lines.filter((line) => line.startsWith("skills/get") || line.startsWith("resources/read"));
    },
  };
}
