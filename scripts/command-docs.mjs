// Writes docs/commands.md: the help of every command, as the built command prints it.
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const file = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const run = promisify(execFile);

async function helpOf(...words) {
  const { stdout } = await run(process.execPath, [file("packages/cli/bin/fairlead.cjs"), ...words, "--help"]);
  return stdout;
}

const block = (text) => `\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`;
/** The options that every command has. The page shows them only in the first block. */
const globalOptions = /Global options:\n(?: .*\n)+\n/;

const overview = await helpOf();
const names = [...overview.matchAll(/^ {2}fairlead (\S+(?: \S+)*) {2,}/gm)].map(([, name]) => name);
const sections = [];
for (const name of names) sections.push({ name, help: await helpOf(...name.split(" ")) });

const page = [
  "# Commands\n",
  "The help of every command. `npm run docs` writes this page from `fairlead COMMAND --help`.\n",
  block(overview),
  ...sections.map(({ name, help }) => `## fairlead ${name}\n\n${block(help.replace(globalOptions, ""))}`),
].join("\n");
await writeFile(file("docs/commands.md"), page);
