/** A server of the official SDK that offers one skill; `skills-server.mjs legacy|modern` on stdio. */

import { McpServer } from "@modelcontextprotocol/server";
import { memorySkillFiles, SkillsExtension } from "@modelcontextprotocol/server/ext/skills";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";

const manifest = "---\nname: knots\ndescription: Ties knots\n---\n\nOver, under, through.\n";

async function createServer() {
  const server = new McpServer({ name: "skills", version: "1.0.0" });
  const skills = await SkillsExtension.load(memorySkillFiles({ "knots/SKILL.md": manifest }));
  skills.attach(server);
  return server;
}

if (process.argv[2] === "legacy") await (await createServer()).connect(new StdioServerTransport());
else serveStdio(createServer, { legacy: "reject" });
