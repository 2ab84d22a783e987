// The skill of the conformance server (SEP-2640): instructions and a folder with a template.
import { createHash } from "node:crypto";
import { codes, RpcError } from "./rpc-error.mjs";

export const skillsExtension = "io.modelcontextprotocol/skills";

const root = "skill://acme/invoices";
const frontmatter = { name: "invoices", description: "Writes invoices from a template." };
const instructions = `---\nname: ${frontmatter.name}\ndescription: ${frontmatter.description}\n---\n\nFill in templates/invoice.md.\n`;
const files = [
  { uri: `${root}/SKILL.md`, ...frontmatter, text: instructions },
  {
    uri: `${root}/templates/invoice.md`,
    name: "invoice.md",
    description: "The template.",
    text: "# Invoice {number}\n",
  },
];
const mimeType = "text/markdown";
const folderType = "inode/directory";
const folders = new Map([
  [
    root,
    [
      { uri: `${root}/SKILL.md`, name: "SKILL.md", mimeType },
      { uri: `${root}/templates`, name: "templates", mimeType: folderType },
    ],
  ],
  [`${root}/templates`, [{ uri: `${root}/templates/invoice.md`, name: "invoice.md", mimeType }]],
]);

/** The skill's files as resources. */
export const skillResources = files.map(({ uri, name, description, text }) => ({
  definition: { uri, name, description, mimeType },
  contents: { text },
}));

const skill = {
  uri: `${root}/SKILL.md`,
  frontmatter,
  resources: files.map(({ uri, text }) => ({
    uri,
    digest: `sha256:${createHash("sha256").update(text).digest("hex")}`,
    size: Buffer.byteLength(text),
  })),
};

export const listSkills = () => ({ skills: [skill] });

export function getSkill({ uri }) {
  if (uri !== skill.uri) throw new RpcError(codes.invalidParams, "no such skill", { uri });
  return { skill };
}

export function readFolder({ uri }) {
  const resources = folders.get(uri);
  if (resources === undefined) throw new RpcError(codes.invalidParams, "no such folder", { uri });
  return { resources };
}
