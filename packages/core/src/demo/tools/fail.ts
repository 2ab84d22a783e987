/** An error that the tool itself reports. */

import { type DemoTool, defineTool, failure } from "../tool.ts";

export const failTool: DemoTool = defineTool({
  name: "fail",
  title: "Fail on purpose",
  description: "Report an error, as a tool does that could not do its work.",
  parameters: { reason: { type: "string", description: "what to complain about", default: "this is what it is for" } },
  run: ({ reason }) => failure(`This tool failed: ${reason}`),
});
