/**
 * The view of a call's tool (MCP Apps): read from the server, allowed by the person, and shown in a frame of another
 * origin. Loaded with the first view.
 */

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Result } from "../../../protocol/commands.ts";
import type { CallRow } from "../../../protocol/rows.ts";
import type { DomainUse } from "../../../protocol/views.ts";
import { CommandError } from "../../api.ts";
import { toCommandError, useApp } from "../../app.ts";
import { Button } from "../../components/button.tsx";
import { AllowButton, Decision } from "../../components/decision.tsx";
import { Failure, Loading, Notice } from "../../components/notice.tsx";
import { Facts } from "../../components/panel.tsx";
import { Text } from "../../components/text.tsx";
import { useLive } from "../../live.ts";
import { RunningCall } from "./running-call.tsx";
import { ViewFrame } from "./view-frame.tsx";

type DescribedView = Result<"views/describe">;
type Shown = Result<"views/show">;

/** `ended`: the view was closed. `why`: what it did wrong. */
type Step =
  | { readonly step: "reading" }
  | { readonly step: "described"; readonly described: DescribedView }
  | { readonly step: "shown"; readonly shown: Shown }
  | { readonly step: "failed"; readonly error: CommandError }
  | { readonly step: "ended"; readonly why: string | undefined };

export function ViewTab({ call }: { readonly call: CallRow }): VNode {
  const [count, setCount] = useState(0);
  return <ViewOf key={count} call={call} onAgain={() => setCount(count + 1)} />;
}

function ViewOf({ call, onAgain }: { readonly call: CallRow; readonly onAgain: () => void }): VNode {
  const { api, store } = useApp();
  const [reading] = useState(() => crypto.randomUUID());
  const [state, setState] = useState<Step>({ step: "reading" });
  const row = useLive(store.calls.row(reading));
  const fail = (error: unknown): void => setState({ step: "failed", error: toCommandError(error) });
  const show = async (): Promise<void> => {
    const shown = await api.run("views/show", { call: reading });
    setState({ step: "shown", shown });
  };
  useEffect(() => {
    api.run("views/read", { call: reading, of: call.id }).catch(fail);
  }, []);
  const isRead = row?.endedAt !== undefined;
  const failure = row?.error;
  useEffect(() => {
    if (!isRead) return;
    if (failure !== undefined) fail(new CommandError(failure));
    else
      api
        .run("views/describe", { call: reading })
        .then(async (described) => (described.needsYes ? setState({ step: "described", described }) : show()))
        .catch(fail);
  }, [isRead]);
  switch (state.step) {
    case "reading":
      return row === undefined || isRead ? <Loading what="the view" /> : <RunningCall row={row} />;
    case "described":
      return <Consent described={state.described} subject={reading} onShow={() => show().catch(fail)} />;
    case "shown":
      return (
        <ViewFrame
          shown={state.shown}
          name={`View of ${call.server}.${call.name}`}
          onEnd={(why) => setState({ step: "ended", why })}
        />
      );
    case "failed":
      return <Failure error={state.error} onRetry={onAgain} />;
    case "ended":
      return (
        <Notice kind={state.why === undefined ? "info" : "bad"}>
          <span>The view was closed{state.why !== undefined && `: ${state.why}`}.</span>
          <Button onPress={onAgain}>Show it again</Button>
        </Notice>
      );
  }
}

const uses: readonly (readonly [DomainUse, string])[] = [
  ["connect", "may connect to"],
  ["load", "may load from"],
  ["frame", "may show pages of"],
  ["base", "base addresses"],
];

/** Everything that the person must know before a program of the server runs in the browser. */
function Consent({
  described,
  subject,
  onShow,
}: {
  readonly described: DescribedView;
  readonly subject: string;
  readonly onShow: () => Promise<void>;
}): VNode {
  const { server, tool, uri, command, definedAt, bytes, domains, refused, permissions, isChanged } = described;
  const named = uses.filter(([use]) => domains[use].length > 0);
  return (
    <article class="view-consent" aria-label="Show the view?">
      {isChanged && (
        <Notice kind="warn">
          <span>
            <strong>The view has changed</strong> since you allowed it: its page, its domains or its permissions.
          </span>
        </Notice>
      )}
      <h2>
        Show the view of <Text of={server} exact />?
      </h2>
      <p class="muted">
        A view is a program of the server. It runs in a frame of its own, sees this call, and can call tools of its own
        server, by your rules.
      </p>
      <Facts
        rows={[
          ["server", <Text key="server" of={server} exact />],
          [/^https?:/.test(command) ? "address" : "command", <Text key="command" of={command} exact class="mono" />],
          ["defined at", <Text key="at" of={definedAt} exact class="mono" />],
          ["tool", <Text key="tool" of={tool} exact />],
          [
            "view",
            <span key="view">
              <Text of={uri} exact class="mono" /> <span class="muted">{bytes.toLocaleString("en")} bytes</span>
            </span>,
          ],
          ...named.map(([use, label]) => [label, <Domains key={use} names={domains[use]} />] as const),
          named.length > 0 ? undefined : ["domains", "none: the browser blocks its requests"],
          refused.length === 0
            ? undefined
            : [
                "refused",
                <ul key="refused" class="view-domains">
                  {refused.map(({ domain, why }) => (
                    <li key={domain}>
                      <Text of={domain} exact class="mono" /> <span class="muted">{why}</span>
                    </li>
                  ))}
                </ul>,
              ],
          permissions.length === 0
            ? ["permissions", "none"]
            : ["permissions", `wants ${permissions.join(", ")}: the console gives a view none`],
        ]}
      />
      <Decision subject={subject} label="Your answer">
        <AllowButton onPress={onShow}>Show the view</AllowButton>
      </Decision>
      <p class="question-hint">
        The yes counts for exactly this page with these domains and permissions. Two channels that no browser closes
        (WebRTC, preconnect) stay open to a view: show those of servers that you trust with their own data.
      </p>
    </article>
  );
}

function Domains({ names }: { readonly names: readonly string[] }): VNode {
  return (
    <ul class="view-domains">
      {names.map((name) => (
        <li key={name}>
          <Text of={name} exact class="mono" />
        </li>
      ))}
    </ul>
  );
}
