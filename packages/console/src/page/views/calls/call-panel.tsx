/** A call while it runs, and its result: progress, the question that it waits for, cancel, and what came back. */

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { CallRow } from "../../../protocol/rows.ts";
import { useApp } from "../../app.ts";
import { Age, tookText } from "../../components/age.tsx";
import { Button } from "../../components/button.tsx";
import { CallMark } from "../../components/state-mark.tsx";
import { Text } from "../../components/text.tsx";
import { useRows } from "../../live.ts";
import { type Outcome, QuestionCard } from "../inbox/question-card.tsx";
import { ResultView } from "./result-view.tsx";
import type { FollowedCall } from "./use-call.ts";

export function CallPanel({ call }: { readonly call: FollowedCall }): VNode {
  const { row } = call;
  if (row === undefined) return <p class="muted">{call.isRunning ? "Sending…" : "The result appears here."}</p>;
  return (
    <div class="call-panel" aria-busy={row.endedAt === undefined || undefined}>
      <p class="block-line" role="status">
        <CallMark state={row.state} />
        {row.endedAt !== undefined && <span class="muted age">{tookText(row.endedAt - row.startedAt)}</span>}
        {row.endedAt === undefined && (
          <>
            <Age since={row.startedAt} />
            <Button icon="stop" onPress={call.cancel}>
              Cancel
            </Button>
          </>
        )}
      </p>
      {row.endedAt === undefined ? <Running row={row} /> : <ResultView key={row.id} call={row} />}
    </div>
  );
}

function Running({ row }: { readonly row: CallRow }): VNode {
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
