/**
 * One question alone, at an address of its own: the page that the gateway opens for a client's request. Its session can
 * see and answer this question and nothing else, and it works when no console was ever opened.
 */

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Question } from "../../../protocol/rows.ts";
import { questionTitle } from "../../announce.ts";
import { useApp } from "../../app.ts";
import { CopyCommand } from "../../components/copy.tsx";
import { Toasts } from "../../components/toasts.tsx";
import { useLive, useRows } from "../../live.ts";
import { Brand } from "../../shell/messages.tsx";
import { type Outcome, QuestionCard } from "./question-card.tsx";
import { outcomeOf } from "./question-outcome.ts";

export function QuestionPage(): VNode {
  const { store } = useApp();
  const connection = useLive(store.connection);
  const about = useLive(store.about);
  const [open] = useRows(store.questions);
  const seen = useRef<Question>(undefined);
  if (open !== undefined) seen.current = open;
  const question = seen.current;
  const [answered, setAnswered] = useState<Outcome>();
  const heading = useRef<HTMLHeadingElement>(null);
  const title = question === undefined ? "Question" : questionTitle(question);
  const isClosed = connection === "closed" || connection === "refused";
  const over =
    answered ??
    (question !== undefined && (open === undefined || isClosed)
      ? outcomeOf(question, store.ended(question.id)?.answered ?? { at: 0 })
      : undefined);
  useEffect(() => {
    store.viewTitle.set(over?.title ?? title);
    store.flusher.flush();
    // A screen reader reads the question first.
    heading.current?.focus();
  }, [title, over?.title, store]);
  return (
    <main class={`alone ${connection === "lost" ? "is-stale" : ""}`}>
      <Brand />
      {question === undefined && (about !== undefined || isClosed) && (
        <>
          <h1 ref={heading} tabIndex={-1}>
            This question is no longer open
          </h1>
          <p>It was answered, or no program waits for it any more.</p>
          <p>
            <CopyCommand command="fairlead approvals" />
          </p>
        </>
      )}
      {question !== undefined && (
        <>
          <h1 class="question-title" ref={heading} tabIndex={-1}>
            <bdi class="foreign">{title}</bdi>
          </h1>
          {connection === "lost" && over === undefined && (
            <p role="alert" class="notice notice-bad">
              Not connected to fairlead: an answer may not arrive.
            </p>
          )}
          <QuestionCard
            question={question}
            outcome={over}
            onAnswered={setAnswered}
            after={<p>You can close this page.</p>}
          />
        </>
      )}
      <Toasts />
    </main>
  );
}
