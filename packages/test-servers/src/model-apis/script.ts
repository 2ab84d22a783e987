/** A model's next answer, independent of any API. Each replacement writes it in the form of its API. */

export type Piece =
  | { readonly text: string }
  | { readonly thought: string }
  | {
      readonly call: string;
      readonly args?: Readonly<Record<string, unknown>>;
      /** Invalid arguments, as from a model that makes a mistake. Only OpenAI's API passes them on. */
      readonly rawArguments?: string;
    }
  /** The server waits for this promise before it sends the next piece. */
  | { readonly until: Promise<unknown> };

/**
 * How the answer ends. "blocked": the prompt was refused. "empty": no candidate and no reason. "cut": the answer ends
 * without an end marker.
 */
export type Finish = "stop" | "length" | "safety" | "malformed_call" | "other" | "blocked" | "empty" | "cut";

export interface ModelAnswer {
  readonly pieces: readonly Piece[];
  readonly finish?: Finish;
}

/** A request as a model reads it, independent of the API. */
export interface Asked {
  readonly model: string;
  readonly system: string;
  /** The names of the functions that the model may call, in order. */
  readonly tools: readonly string[];
  /** The text of the person's last message. Results do not count. */
  readonly said: string;
  /** The calls since then and their results: one list for each answer with calls. */
  readonly rounds: readonly (readonly CallResult[])[];
}

export interface CallResult {
  readonly name: string;
  /** The result as the API received it: text or an object. */
  readonly result: unknown;
  /** The types of the media in the result. */
  readonly media: readonly string[];
}

export type Answering = (asked: Asked) => ModelAnswer;

/** An answer with these texts, each as a piece. */
export function says(...texts: readonly string[]): ModelAnswer {
  return { pieces: texts.map((text) => ({ text })) };
}

/** An answer with one call. For several calls at once, write `pieces`. */
export function calls(name: string, args: Readonly<Record<string, unknown>> = {}): ModelAnswer {
  return { pieces: [{ call: name, args }] };
}

/** Gives these answers, one for each accepted request. After the last answer, a further request is an error. */
export function inTurn(...answers: readonly ModelAnswer[]): Answering {
  let next = 0;
  return () => {
    const answer = answers[next];
    next += 1;
    if (!answer) throw new Error(`the script has ${answers.length} answers, and this would be number ${next}`);
    return answer;
  };
}
