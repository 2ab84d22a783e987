/** The demo server's tools, each there to show one thing that a tool can do. */

import { type JsonObject, WireError } from "@fairlead/wire";
import { refuseCursor } from "./lists.ts";
import type { Task } from "./task.ts";
import type { DemoTool } from "./tool.ts";
import { countTool } from "./tools/count.ts";
import { failTool } from "./tools/fail.ts";
import { greetTool } from "./tools/greet.ts";
import { pictureTool } from "./tools/picture.ts";
import { statisticsTool } from "./tools/statistics.ts";
import { waitTool } from "./tools/wait.ts";

const tools: readonly DemoTool[] = [greetTool, pictureTool, statisticsTool, countTool, waitTool, failTool];

export function listTools(params: JsonObject): JsonObject {
  refuseCursor(params);
  return { tools: tools.map(({ definition }) => definition) };
}

export async function callTool(params: JsonObject, task: Task): Promise<JsonObject> {
  const tool = tools.find(({ definition }) => definition.name === params["name"]);
  if (!tool) throw new WireError("rpc", `Unknown tool: ${String(params["name"])}`, { rpc: { code: -32602 } });
  return tool.run(params["arguments"], task);
}
