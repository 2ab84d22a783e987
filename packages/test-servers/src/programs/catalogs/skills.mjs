/*
 * Offers the skills in the JSON file that its first argument names, and reads that file again for each request, so that
 * a test can change them. Members of the file: `skills`, a list of `{ path, files }` with the text of each file, and per
 * skill optionally `entry` (members that replace those of the entry), `served` (texts that are sent instead of the listed
 * ones), `isUnlisted` and `unsent` (names of files that are not in the entry); `many` lists this many further skills in
 * pages of 500; `tools`; `texts`, resources that are no files of skills, by address; `directoryRead`. The server writes each request to the file in its second argument.
 */
import { createHash } from "node:crypto";
import { appendFileSync, readFileSync } from "node:fs";
import { onLine, runIfMain } from "../program.mjs";

const pageSize = 500;

/** @param {import("../program.mjs").Io} io */
export function skills({ args, input, output }) {
  const [file, diary] = args;
  const held = () => ({ skills: [], many: 0, tools: [], texts: {}, ...JSON.parse(readFileSync(file, "utf8")) });
  const find = (uri) => held().skills.find(({ path }) => uri.startsWith(`skill://${path}/`));

  const answers = {
    initialize: () => ({
      protocolVersion: "2025-11-25",
      capabilities: {
        resources: { listChanged: true },
        tools: {},
        extensions: { "io.modelcontextprotocol/skills": held().directoryRead ? { directoryRead: true } : {} },
      },
      serverInfo: { name: "skills", version: "1.0.0" },
    }),
    "tools/list": () => ({ tools: held().tools }),
    "resources/list": () => ({ resources: Object.keys(held().texts).map((uri) => ({ uri, name: uri })) }),
    "resources/templates/list": () => ({ resourceTemplates: [] }),
    "skills/list"({ cursor = "0" }) {
      const { skills: some, many } = held();
      const first = Number(cursor);
      const listed = some.filter(({ isUnlisted }) => !isUnlisted).map(entryOf);
      const more = Array.from({ length: Math.max(0, Math.min(pageSize, many - first)) }, (_, at) =>
        entryOf(generated(first + at)),
      );
      const next = first + pageSize;
      return { skills: first === 0 ? [...listed, ...more] : more, ...(next < many && { nextCursor: String(next) }) };
    },
    "skills/get"({ uri }) {
      const skill = held().skills.find(({ path }) => uri === `skill://${path}/SKILL.md`);
      return skill && { skill: entryOf(skill) };
    },
    "resources/read"({ uri }) {
      const { texts } = held();
      if (Object.hasOwn(texts, uri)) return { contents: [{ uri, text: texts[uri] }] };
      const skill = find(uri);
      const name = skill && uri.slice(`skill://${skill.path}/`.length);
      const text = skill?.served?.[name] ?? skill?.files[name];
      return text === undefined ? undefined : { contents: [{ uri, text }] };
    },
    "resources/directory/read"({ uri }) {
      const skill = held().skills.find(({ path }) => uri === `skill://${path}`);
      const children = Object.keys(skill?.files ?? {}).filter((name) => !name.includes("/"));
      return skill && { resources: children.map((name) => ({ uri: `${uri}/${name}`, name })) };
    },
  };

  onLine({ input, output }, (line) => {
    const { id, method, params = {} } = JSON.parse(line);
    if (diary) appendFileSync(diary, `${[method, params.uri ?? params.name ?? ""].join(" ").trim()}\n`);
    if (id === undefined) return;
    const result = Object.hasOwn(answers, method) ? answers[method](params) : undefined;
    const body = result === undefined ? { error: { code: -32602, message: "there is no such thing" } } : { result };
    output.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);
  });
}

function entryOf({ path, files, entry, unsent = [] }) {
  const resources = Object.entries(files)
    .filter(([name]) => !unsent.includes(name))
    .map(([name, text]) => ({
      uri: `skill://${path}/${name}`,
      digest: `sha256:${createHash("sha256").update(text).digest("hex")}`,
      size: Buffer.byteLength(text),
    }));
  return { uri: `skill://${path}/SKILL.md`, frontmatter: frontmatterOf(files["SKILL.md"]), resources, ...entry };
}

/** Reads `name: text` lines, which is all that the tests write. */
function frontmatterOf(text) {
  const lines = text.split("---\n")[1]?.trim().split("\n") ?? [];
  return Object.fromEntries(lines.map((line) => line.split(": ", 2)));
}

function generated(at) {
  const name = `skill-${at}`;
  return { path: name, files: { "SKILL.md": `---\nname: ${name}\ndescription: Does thing ${at}\n---\nDo it.\n` } };
}

runIfMain(import.meta.url, skills);
