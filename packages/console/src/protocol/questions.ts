import type { Answer } from "./rows.ts";

/** Answers questions. */
export interface QuestionCommands {
  "questions/answer": {
    params: { readonly id: string; readonly answer: Answer };
    result: {
      /** False: an earlier answer counts. */
      readonly isFirst: boolean;
      /** What became of the answer, as a sentence. */
      readonly text: string;
    };
  };
}
