/** The questions that wait for a person, from clients, conversations and servers, and the chosen one in full. */

import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Question } from "../../../protocol/rows.ts";
import { questionTitle } from "../../announce.ts";
import { useApp } from "../../app.ts";
import { Age, Countdown } from "../../components/age.tsx";
import { Button } from "../../components/button.tsx";
import { CopyCommand } from "../../components/copy.tsx";
import { Link } from "../../components/link.tsx";
import { Empty } from "../../components/notice.tsx";
import { View } from "../../components/panel.tsx";
import { Text } from "../../components/text.tsx";
import { useLive, useRows } from "../../live.ts";
import { toAddress, type ViewAddress } from "../../router.ts";
import { type Outcome, QuestionCard } from "./question-card.tsx";
import { outcomeOf } from "./question-outcome.ts";

export function InboxView({ path: [id] }: ViewAddress): VNode {
  const { store } = useApp();
  const about = useLive(store.about);
  const questions = useRows(store.questions);
  // Answers of this page, with what the host says became of them.
  const [answers, setAnswers] = useState<ReadonlyMap<string, Outcome>>(new Map());
  // Without an id the oldest question is shown, and stays while it is read: a later change must not replace it.
  const chosen = useRef<Question>(undefined);
  const wanted = id === undefined ? chosen.current?.id : id;
  const open = questions.find((question) => question.id === wanted);
  const shown =
    open ??
    (wanted === undefined
      ? questions[0]
      : (store.ended(wanted)?.question ?? (chosen.current?.id === wanted ? chosen.current : undefined)));
  chosen.current = shown;
  const outcome =
    shown === undefined
      ? undefined
      : (answers.get(shown.id) ??
        (open === undefined && shown.id === wanted ? outcomeOf(shown, store.ended(shown.id)?.answered) : undefined));
  const next = questions.find((question) => question.id !== shown?.id);
  return (
    <View
      title="Inbox"
      tools={
        <>
          <NotifyButton />
          <CopyCommand command="fairlead approvals" />
        </>
      }
    >
      {about !== undefined && shown === undefined && (
        <Empty title={id === undefined ? "No question waits" : "This question is no longer open"}>
          <p>
            Questions of clients, conversations and servers appear here, in the terminal app and in the inbox of the
            command.
          </p>
        </Empty>
      )}
      {shown !== undefined && (
        <div class="inbox">
          <ul class="inbox-list" aria-label="Open questions">
            {questions.map((question) => (
              <InboxRow key={question.id} question={question} isCurrent={question.id === shown.id} />
            ))}
            {questions.length === 0 && <li class="inbox-none muted">No other question waits</li>}
          </ul>
          <section class="inbox-card" aria-labelledby="question-title">
            <QuestionTitle question={shown} />
            <QuestionCard
              key={shown.id}
              question={shown}
              outcome={outcome}
              onAnswered={(result) => setAnswers((before) => new Map(before).set(shown.id, result))}
              after={
                next !== undefined && (
                  <Link to={toAddress(["inbox", next.id])}>Next question: {questionTitle(next)}</Link>
                )
              }
            />
          </section>
        </div>
      )}
    </View>
  );
}

/** The question itself, as a heading. */
function QuestionTitle({ question }: { readonly question: Question }): VNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    // The link to this question was in the card of the one before.
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, [question.id]);
  return (
    <h2 class="question-title" id="question-title" ref={heading} tabIndex={-1}>
      <bdi class="foreign">{questionTitle(question)}</bdi>
    </h2>
  );
}

function InboxRow({ question, isCurrent }: { readonly question: Question; readonly isCurrent: boolean }): VNode {
  return (
    <li>
      <Link
        to={toAddress(["inbox", question.id])}
        class="inbox-row"
        isCurrent={isCurrent}
        focusKey={`question ${question.id}`}
      >
        <span class="inbox-row-title">
          <bdi class="foreign">{questionTitle(question)}</bdi>
        </span>
        <span class="inbox-row-more">
          {"from" in question && <Text of={question.from} exact />}
          <span class="inbox-row-time">
            <Age since={question.since} suffix=" ago" />
            {question.deadline !== undefined && (
              <>
                {" · "}
                <Countdown until={question.deadline} /> left
              </>
            )}
          </span>
        </span>
      </Link>
    </li>
  );
}

/** Asks the browser for notifications: only after a press, and only if the person was not asked before. */
function NotifyButton(): VNode | null {
  const [permission, setPermission] = useState(() =>
    "Notification" in globalThis ? Notification.permission : "denied",
  );
  const isMounted = useRef(true);
  useEffect(
    () => () => {
      isMounted.current = false;
    },
    [],
  );
  if (permission !== "default") return null;
  const ask = async (): Promise<void> => {
    const answer = await Notification.requestPermission();
    if (isMounted.current) setPermission(answer);
  };
  return (
    <Button kind="quiet" onPress={ask}>
      Notify me of questions
    </Button>
  );
}
