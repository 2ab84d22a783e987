// Tools of the conformance server that run as tasks, and one that never does.
import { setTimeout as pause } from "node:timers/promises";
import { text } from "./content.mjs";
import { askName, elicit, object } from "./question-tools.mjs";
import { ToolFailure } from "./rpc-error.mjs";
import { tool } from "./tools.mjs";

const string = { type: "string" };
const confirm = { confirm: { type: "boolean" } };
const second = 1000;

/**
 * Marks a tool. `optional`: it runs as a task if the client declares tasks. `required`: it runs only as a task.
 * @param first Asks its questions before the task starts. Its answers are `answers` of the task.
 */
const asTask = (support, made, first = () => ({})) => ({ ...made, task: { support, first } });

export const taskTools = [
  tool("greet", "Greets someone.", ({ args }) => [text(`Hello, ${args.name}!`)], object({ name: string })),
  asTask(
    "optional",
    tool(
      "slow_compute",
      "Takes some seconds as a task, and otherwise none.",
      async ({ args, signal, isTask }) => {
        if (isTask) await pause(Number(args.seconds ?? 0) * second, undefined, { signal });
        return [text(`Computed ${args.label}.`)];
      },
      object({ seconds: { type: "number" }, label: string }, []),
    ),
  ),
  asTask(
    "required",
    tool("failing_job", "Fails after a second.", async ({ signal }) => {
      await pause(second, undefined, { signal });
      throw new ToolFailure("The job failed, as it should.");
    }),
  ),
  asTask(
    "required",
    tool("protocol_error_job", "Ends with a protocol error.", () => {
      throw new Error("The job has crashed, as it should.");
    }),
  ),
  asTask(
    "optional",
    tool(
      "confirm_delete",
      "Asks before it deletes nothing.",
      async ({ args, ask }) => {
        const { answer } = await ask({ answer: elicit(`Delete ${args.filename}?`, confirm) });
        return [text(answer.content?.confirm ? `Deleted ${args.filename}.` : `Kept ${args.filename}.`)];
      },
      object({ filename: string }),
    ),
  ),
  asTask(
    "optional",
    tool("multi_input", "Asks two questions at once.", async ({ ask }) => {
      const answers = await ask({ name: askName, confirm: elicit("Go on?", confirm) });
      return [text(JSON.stringify(answers))];
    }),
  ),
  asTask(
    "required",
    tool("test_tool_with_task", "Asks for a name before its task starts.", ({ answers }) => [
      text(`The task greets ${answers.user_name.content?.name}.`),
    ]),
    ({ ask }) => ask({ user_name: askName }),
  ),
];
