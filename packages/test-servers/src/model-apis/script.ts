/** What a model says next, in neither API's words: each stand-in writes it in its own. */

export type Piece =
  | { readonly text: string }
  | { readonly thought: string }
  | {
      readonly call: string;
      readonly args?: Readonly<Record<string, unknown>>;
      /** Stands where the arguments should: a model that errs. Only OpenAI's wire lets it through. */
      readonly rawArguments?: string;
    }
  /** Nothing more is sent before this has happened. */
  | { readonly until: Promise<unknown> };

/** "blocked": the prompt was not even looked at; "empty": no candidate, no reason; "cut": it ends without saying that it has. */
export type Finish = "stop" | "length" | "safety" | "malformed_call" | "other" | "blocked" | "empty" | "cut";

export interface ModelAnswer {
  readonly pieces: readonly Piece[];
  readonly finish?: Finish;
}

/** A request as a model would read it, whichever API it came through. */
export interface Asked {
  readonly model: string;
  readonly system: string;
  /** The names of the functions it may call, in their order. */
  readonly tools: readonly string[];
  /** The text of the latest message that is the person's, not a result. */
  readonly said: string;
  /** What was called since then, and what came of it: one list for each time that the model called something. */
  readonly rounds: readonly (readonly CallResult[])[];
}

export interface CallResult {
  readonly name: string;
  /** As the API got it: text or an object. */
  readonly result: unknown;
  /** The types of media that came with it. */
  readonly media: readonly string[];
}

export type Answering = (asked: Asked) => ModelAnswer;

/** Text in as many pieces as are given. */
export function says(...texts: readonly string[]): ModelAnswer {
  return { pieces: texts.map((text) => ({ text })) };
}

/** One call; of several at once, `pieces` says more. */
export function calls(name: string, args: Readonly<Record<string, unknown>> = {}): ModelAnswer {
  return { pieces: [{ call: name, args }] };
}

/** These answers, one for each request that is answered at all, and then none. */
export function inTurn(...answers: readonly ModelAnswer[]): Answering {
  let next = 0;
  return () => {
    const answer = answers[next];
    next += 1;
    if (!answer) throw new Error(`the script has ${answers.length} answers, and this would be number ${next}`);
    return answer;
  };
}
