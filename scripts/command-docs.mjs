// Writes docs/commands.md: the help of every command, as the built command prints it.
import { writeFile } from "node:fs/promises";
import { commandHelp, globalOptions } from "./command-help.mjs";

const block = (text) => `\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`;
const { overview, commands } = await commandHelp();
const page = [
  "# Commands\n",
  "The help of every command. `npm run docs` writes this page from `fairlead COMMAND --help`.\n",
  block(overview),
  ...commands.map(({ name, help }) => `## fairlead ${name}\n\n${block(help.replace(globalOptions, ""))}`),
].join("\n");
await writeFile(new URL("../docs/commands.md", import.meta.url), page);
