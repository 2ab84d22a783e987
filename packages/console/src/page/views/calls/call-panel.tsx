/** A call while it runs, and its result: progress, the question that it waits for, cancel, and what came back. */

import type { VNode } from "preact";
import { Age, tookText } from "../../components/age.tsx";
import { Button } from "../../components/button.tsx";
import { CallMark } from "../../components/state-mark.tsx";
import { ResultView } from "./result-view.tsx";
import { RunningCall } from "./running-call.tsx";
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
      {row.endedAt === undefined ? <RunningCall row={row} /> : <ResultView key={row.id} call={row} />}
    </div>
  );
}
