/** A slow call that says nothing meanwhile: something to cancel, or to run into a timeout with. */

import { sleep } from "../../clock.ts";
import { type DemoTool, defineTool, text } from "../tool.ts";

export const waitTool: DemoTool = defineTool({
  name: "wait",
  title: "Take a while",
  description: "Wait without a sign of life, then answer. Try Ctrl-C or a timeout.",
  parameters: {
    seconds: { type: "number", description: "how long to wait", minimum: 0, maximum: 3600, default: 10 },
  },
  async run({ seconds }, { clock, signal }) {
    await sleep(clock, seconds * 1000, signal);
    return text(`Waited ${seconds} s.`);
  },
});
