/** `fairlead -p`: sends one prompt to a model that may use tools, without asking on a terminal. */

import { defineOptions } from "../headless/options.ts";
import type { Verb } from "../shell/verb.ts";

export const verb: Verb = {
  help: `
The answer goes to stdout, calls and progress to stderr. Fairlead asks no
questions: a tool runs only if a rule, --allow or "trust" in the server's entry
allows it. The model is told about denied calls. Piped input is added after the
prompt, as data. After -p alone, piped input is the prompt.

  @notes://today     in the prompt: a resource, or a file of a trusted folder
  /teach bowline     a prompt of a server, with its arguments

GEMINI_API_KEY, OPENAI_BASE_URL or ANTHROPIC_API_KEY selects the model's API;
--model selects a model.
Exit codes: 0 the model finished, 1 it did not, 2 usage error, 6 a call was denied
and --fail-on-denied is set, 130 Ctrl-C.

Examples:
  fairlead -p "how many words are in @notes://today?"
  git diff | fairlead -p "write a commit message" --servers git
  fairlead -p "tidy up my notes" --allow notes.write --output-format stream-json
  fairlead -p "demo.greet name=Ada" --model manual --allow demo.greet`,

  split: (words) => ({ ours: withPipedPrompt(words), rest: [] }),

  define(command) {
    command.usage('"PROMPT" [options]');
    defineOptions(command);
  },

  async run(context) {
    const { runHeadless } = await import("../headless/run.ts");
    await runHeadless(context);
  },
};

/** Matches an option. A prompt that looks like one is written as `--prompt=TEXT`. */
const option = /^(?:--[a-z][a-z-]*(?:=|$)|-[A-Za-z]$)/;

/** Gives `-p` an empty prompt if no text follows it: the next word is an option, or there is none. */
function withPipedPrompt(words: readonly string[]): readonly string[] {
  return words.map((word, at) => {
    const next = words[at + 1];
    const isAlone = (word === "-p" || word === "--prompt") && (next === undefined || option.test(next));
    return isAlone ? "--prompt=" : word;
  });
}
