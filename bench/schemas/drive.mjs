// One sample: a process of its own that takes in a catalog, then the same catalog again, and says on stdout what each cost.
import { createSchemaCompiler } from "./bundle/normalise/schema/compiler.js";
import { DiscoveredMCPTool } from "./bundle/registry/discovered-tool.js";
import { ToolRegistry } from "./bundle/registry/tool-registry.js";
import { catalog } from "./catalog.mjs";

const [job, count] = [process.argv[2], Number(process.argv[3])];
const compiler = createSchemaCompiler("gemini");
const registry = new ToolRegistry({ toolsPerServer: count });

const jobs = {
  compile: (tools) => tools.map(({ inputSchema }) => compiler.compile(inputSchema)),
  register(tools) {
    const discovered = tools.map(
      ({ name, description, inputSchema }) =>
        new DiscoveredMCPTool({
          serverName: "server",
          serverToolName: name,
          description,
          parameterSchemaJson: inputSchema,
          compile: (raw) => compiler.compile(raw),
        }),
    );
    registry.replaceServer("server", discovered);
    return registry.getFunctionDeclarations();
  },
};

/** Milliseconds of this process, user and system. Parsed anew each time, as it would arrive. */
function costOf(text) {
  const tools = JSON.parse(text);
  const { user, system } = process.cpuUsage();
  const results = jobs[job](tools);
  const used = process.cpuUsage({ user, system });
  if (results.length !== count) throw new Error(`${results.length} of ${count} tools came through`);
  return (used.user + used.system) / 1000;
}

const text = JSON.stringify(catalog(count));
const first = costOf(text);
if (compiler.compiled !== count) throw new Error(`${compiler.compiled} of ${count} schemas were compiled`);
const second = costOf(text);
if (compiler.compiled !== count) throw new Error(`${compiler.compiled - count} schemas were compiled again`);
process.stdout.write(JSON.stringify({ first, second }));
