/** `fairlead -p`: asks a model, which uses the tools, without a terminal. */

import { defineOptions } from "../headless/options.ts";
import type { Verb } from "../shell/verb.ts";

export const verb: Verb = {
  define(command) {
    command.usage('"what to do" [options]');
    defineOptions(command);
    command.addHelpText(
      "after",
      `
The answer goes to stdout, what happens meanwhile to stderr. Nobody is asked
anything: a tool runs if a rule, --allow or the server's trust lets it, and the
model is told of what was denied. What is piped in follows the prompt, as data.

  @notes://today     in the prompt: a resource, or a file of a trusted folder
  /teach bowline     a prompt of a server, with its arguments

The model is what GEMINI_API_KEY or OPENAI_BASE_URL leads to; --model names one.
Exit codes: 0 the model came to an end, 1 it did not, 2 a mistake in the command
line, 6 a call was denied and --fail-on-denied is there, 130 Ctrl-C.

Examples:
  fairlead -p "how many words are in @notes://today?"
  git diff | fairlead -p "write a commit message" --servers git
  fairlead -p "tidy up my notes" --allow notes.write --output-format stream-json
  fairlead -p "demo.greet name=Ada" --model manual --allow demo.greet`,
    );
  },

  async run(context) {
    const { runHeadless } = await import("../headless/run.ts");
    await runHeadless(context);
  },
};
