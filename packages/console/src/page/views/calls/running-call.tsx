/** A request that runs: its progress, and the question that it waits for. */

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { CallRow } from "../../../protocol/rows.ts";
import { useApp } from "../../app.ts";
import { Text } from "../../components/text.tsx";
import { useRows } from "../../live.ts";
import { type Outcome, QuestionCard } from "../inbox/question-card.tsx";

export function RunningCall({ row }: { readonly row: CallRow }): VNode {
  const { store } = useApp();
  const questions = useRows(store.questions);
  const [outcome, setOutcome] = useState<Outcome>();
  const question = questions.find((each) => each.call === row.id);
  const { progress } = row;
  return (
    <>
      {progress !== undefined && (
        <div class="call-progress">
          <progress value={progress.progress} max={progress.total} aria-label="Progress" />
          {progress.message !== undefined && <Text of={progress.message} />}
        </div>
      )}
      {question !== undefined && (
        <QuestionCard key={question.id} question={question} outcome={outcome} onAnswered={setOutcome} />
      )}
    </>
  );
}
