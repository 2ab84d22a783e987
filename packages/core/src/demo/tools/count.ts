/** Progress: tells how far it is while it works. */

import { sleep } from "../../clock.ts";
import { type DemoTool, defineTool, text } from "../tool.ts";

export const countTool: DemoTool = defineTool({
  name: "count",
  title: "Count slowly",
  description: "Count from one upwards with a pause before each number, and report progress.",
  parameters: {
    to: { type: "integer", description: "the last number", minimum: 1, maximum: 100, default: 5 },
    pause: {
      type: "number",
      description: "milliseconds before each number",
      minimum: 0,
      maximum: 10_000,
      default: 300,
    },
  },
  async run({ to, pause }, { clock, signal, progress }) {
    const numbers = Array.from({ length: to }, (_, at) => at + 1);
    for (const number of numbers) {
      await sleep(clock, pause, signal);
      progress({ progress: number, total: to, message: `counted to ${number}` });
    }
    return text(numbers.join(" "));
  },
});
