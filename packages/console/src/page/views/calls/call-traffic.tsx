/** The messages of one call, between Fairlead and its server. */

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { useCommand } from "../../app.ts";
import { clockText, tookText } from "../../components/age.tsx";
import { Empty, Failure, Loading } from "../../components/notice.tsx";
import { Text } from "../../components/text.tsx";

export function CallTraffic({ call }: { readonly call: string }): VNode {
  const { value, error, reload } = useCommand("traffic/list", {});
  const [opened, setOpened] = useState<number>();
  if (error !== undefined) return <Failure error={error} onRetry={reload} />;
  if (value === undefined) return <Loading what="the messages" />;
  const frames = value.frames.filter((frame) => frame.call === call);
  if (frames.length === 0) return <Empty title="The messages of this call are no longer kept" />;
  return (
    <ul class="call-frames">
      {frames.map((frame) => (
        <li key={frame.id}>
          <button
            type="button"
            class="call-frame"
            aria-expanded={opened === frame.id}
            onClick={() => setOpened(opened === frame.id ? undefined : frame.id)}
          >
            <span class="age">{clockText(frame.at)}</span>
            <span>{frame.direction === "out" ? "→ to the server" : "← from the server"}</span>
            <span class="cut">
              {frame.kind} <Text of={frame.method ?? ""} exact />
            </span>
            <span class="age">{frame.took === undefined ? "" : tookText(frame.took)}</span>
            <span class="age">{frame.bytes.toLocaleString("en")} B</span>
          </button>
          {opened === frame.id && <FrameBody id={frame.id} />}
        </li>
      ))}
    </ul>
  );
}

function FrameBody({ id }: { readonly id: number }): VNode {
  const { value, error, reload } = useCommand("traffic/body", { id });
  if (error !== undefined) return <Failure error={error} onRetry={reload} />;
  if (value === undefined) return <Loading what="the message" />;
  if (value.text === undefined) return <Empty title="The message is no longer kept" />;
  return <Text of={value.text} lines exact most={50_000} class="code-block" />;
}
