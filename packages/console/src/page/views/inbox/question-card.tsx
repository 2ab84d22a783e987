/**
 * One question in full: exactly what would happen, who wants it, which rule asks, and how the definition differs from the
 * accepted one. The same card is in the inbox and alone on a page of its own (the gateway's approval page).
 */

import type { ComponentChildren, VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Answer, AskedAddress, Choice, Question } from "../../../protocol/rows.ts";
import { questionTitle } from "../../announce.ts";
import { CommandError } from "../../api.ts";
import { useApp } from "../../app.ts";
import { Age, Countdown } from "../../components/age.tsx";
import { Button } from "../../components/button.tsx";
import { AllowButton, Decision, DecisionButton } from "../../components/decision.tsx";
import { Differences } from "../../components/differences.tsx";
import { JsonTree } from "../../components/json-tree.tsx";
import { Notice } from "../../components/notice.tsx";
import { Facts } from "../../components/panel.tsx";
import { Text } from "../../components/text.tsx";
import { useModule } from "../../components/use-module.ts";

/** How the question ended, from the answer of this page or from another place. */
export interface Outcome {
  readonly title: string;
  readonly text: string;
}

export interface QuestionCardProps {
  readonly question: Question;
  /** Set when the question is over: the card then has no buttons. */
  readonly outcome: Outcome | undefined;
  readonly onAnswered: (outcome: Outcome) => void;
  /** Controls after the end, such as a link to the next question. */
  readonly after?: ComponentChildren;
}

type Send = (answer: Answer) => Promise<void>;

export function QuestionCard({ question, outcome, onAnswered, after }: QuestionCardProps): VNode {
  const { api } = useApp();
  const send: Send = async (answer) => {
    try {
      const { isFirst, text } = await api.run("questions/answer", { id: question.id, answer });
      onAnswered({ title: isFirst ? "Answered" : "Already answered", text });
    } catch (error) {
      if (!(error instanceof CommandError) || error.code !== "not_found") throw error;
      onAnswered({ title: "No longer open", text: error.message });
    }
  };
  return (
    <article class="question-card" aria-label={questionTitle(question)}>
      <p class="question-times">
        asked <Age since={question.since} suffix=" ago" />
        {outcome === undefined && question.deadline !== undefined && (
          <>
            , expires in <Countdown until={question.deadline} />
          </>
        )}
      </p>
      <QuestionBody question={question} send={send} isOver={outcome !== undefined} />
      {outcome !== undefined && <Ended outcome={outcome}>{after}</Ended>}
    </article>
  );
}

/** What became of the question. It takes the focus from the buttons that it replaces. */
function Ended({ outcome, children }: { readonly outcome: Outcome; readonly children: ComponentChildren }): VNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div class="question-outcome" role="status">
      <h2 ref={heading} tabIndex={-1}>
        {outcome.title}
      </h2>
      <p>
        <Text of={outcome.text} />
      </p>
      {children}
    </div>
  );
}

interface BodyProps<K extends Question["kind"] = Question["kind"]> {
  readonly question: Extract<Question, { readonly kind: K }>;
  readonly send: Send;
  readonly isOver: boolean;
}

function QuestionBody({ question, send, isOver }: BodyProps): VNode {
  switch (question.kind) {
    case "request":
      return <RequestBody question={question} send={send} isOver={isOver} />;
    case "form":
      return <FormBody question={question} send={send} isOver={isOver} />;
    case "address":
      return <AddressBody question={question} send={send} isOver={isOver} />;
    case "sign_in":
      return <SignInBody question={question} send={send} isOver={isOver} />;
  }
}

function RequestBody({ question, send, isOver }: BodyProps<"request">): VNode {
  const [because, setBecause] = useState("");
  const { args, isCut, digest, change, choices, from, folder, description, hints, flags, sandbox, reason } = question;
  const count = Object.keys(args).length;
  const allowing = choices.filter(({ value }) => value !== "no");
  return (
    <>
      {change !== undefined && (
        <Notice kind="warn">
          <div class="question-change">
            <p>
              <strong>The definition has changed</strong> since you accepted it:
            </p>
            <Differences list={change} />
          </div>
        </Notice>
      )}
      {!question.isAwaited && !isOver && (
        <Notice kind="info">
          The program no longer waits for this answer. If you allow the request and the program sends it again within
          ten minutes, it runs once.
        </Notice>
      )}
      <section class="question-arguments" aria-label="Arguments">
        <p class="question-label">
          {namedSubjects[question.request] ?? (count === 0 ? "No arguments" : "Arguments")}
          {isCut && <span class="question-cut">only the beginning is shown</span>}
        </p>
        {namedSubjects[question.request] !== undefined && (
          <p class="code-line">
            <Text of={question.name} exact />
          </p>
        )}
        {count > 0 && (
          <div class="question-value" tabIndex={0} role="group" aria-label="Exact arguments">
            <JsonTree value={args} label="Arguments" openLevels={100} isExact />
          </div>
        )}
      </section>
      <Facts
        rows={[
          ["asked by", <Text key="from" of={from} exact />],
          folder === undefined ? undefined : ["folder", <Text key="folder" of={folder} exact class="mono" />],
          ["asks because", <Text key="reason" of={reason === "" ? "no rule allows it" : reason} exact />],
          description === undefined
            ? undefined
            : ["description", <Text key="description" of={description} lines most={400} exact />],
          sandbox === undefined ? undefined : ["server", <Text key="sandbox" of={sandbox} exact />],
          flags === undefined ? undefined : ["flags", <Text key="flags" of={flags} lines exact />],
          hints === undefined ? undefined : ["annotations", <Text key="hints" of={hints} exact />],
          ["digest", <code key="digest">{digest}</code>],
        ]}
      />
      {!isOver && (
        <>
          <Decision subject={question.id} label="Your answer">
            <DecisionButton
              onPress={() => send({ kind: "request", choice: "no", because: because.trim() || undefined })}
            >
              No
            </DecisionButton>
            {allowing.map((choice) => (
              <AllowButton key={choice.value} onPress={() => send({ kind: "request", choice: choice.value })}>
                {choiceTitle(choice)}
              </AllowButton>
            ))}
          </Decision>
          <div class="question-because">
            {question.request !== "host" && (
              <input
                aria-label="Why not, for the model to read"
                placeholder="Why not (optional; the model reads it with your no)"
                value={because}
                maxLength={500}
                onInput={(event) => setBecause(event.currentTarget.value)}
              />
            )}
            <KeyHint />
          </div>
        </>
      )}
    </>
  );
}

/** Requests that have a name instead of arguments. */
const namedSubjects: Readonly<Partial<Record<string, string>>> = { resource: "Address", host: "Host" };

function choiceTitle({ text }: Choice): string {
  return text.startsWith("yes") ? `Y${text.slice(1)}` : `Yes, ${text}`;
}

function KeyHint(): VNode {
  return (
    <p class="question-hint">
      The space bar presses a button. <kbd>Enter</kbd> allows nothing.
    </p>
  );
}

const loadForm = () => import("./elicitation-form.tsx");

function FormBody({ question, send, isOver }: BodyProps<"form">): VNode {
  const ElicitationForm = useModule(loadForm)?.ElicitationForm;
  return (
    <>
      <p class="question-message">
        <Text of={question.message} lines exact most={4000} />
      </p>
      <Facts
        rows={[
          ["sent to", <Text key="server" of={`the server ${question.server}`} exact />],
          duringOf(question.from, question.server),
        ]}
      />
      {!isOver && (
        <>
          <p class="muted">Enter no password, key or other secret here: the server can read what you send.</p>
          {ElicitationForm !== undefined && (
            <ElicitationForm
              id={question.id}
              schema={question.schema}
              onSend={(content) => send({ kind: "form", action: "accept", content })}
              onRefuse={(action) => send({ kind: "form", action })}
            />
          )}
        </>
      )}
    </>
  );
}

function AddressBody({ question, send, isOver }: BodyProps<"address">): VNode {
  const target = openedAddress(question);
  return (
    <>
      <p class="question-message">
        <Text of={question.message} lines exact most={4000} />
      </p>
      <AddressFacts server={question.server} url={question.url} target={target} from={question.from} />
      {!isOver && (
        <Decision subject={question.id} label="Your answer">
          <DecisionButton onPress={() => send({ kind: "address", action: "decline" })}>
            No, do not open it
          </DecisionButton>
          {target !== undefined && (
            <AllowButton
              onPress={() => {
                window.open(target.href, "_blank", "noopener,noreferrer");
                return send({ kind: "address", action: "accept" });
              }}
            >
              Open {target.host}
            </AllowButton>
          )}
        </Decision>
      )}
    </>
  );
}

function SignInBody({ question, send, isOver }: BodyProps<"sign_in">): VNode {
  const [pasted, setPasted] = useState("");
  const target = openedAddress(question);
  return (
    <>
      <p class="question-message">
        Open the address, sign in there, and come back. The page of the sign-in then tells Fairlead by itself.
      </p>
      <AddressFacts server={question.server} url={question.url} target={target} from={undefined} />
      {!isOver && (
        <>
          <Decision subject={question.id} label="Sign-in">
            <DecisionButton onPress={() => send({ kind: "sign_in", action: "cancel" })}>
              Cancel the sign-in
            </DecisionButton>
            {target !== undefined && (
              <AllowButton onPress={() => window.open(target.href, "_blank", "noopener,noreferrer")}>
                Open {target.host}
              </AllowButton>
            )}
          </Decision>
          {question.takesPastedAddress && (
            <form
              class="question-pasted"
              onSubmit={(event) => {
                event.preventDefault();
              }}
            >
              <label for={`pasted-${question.id}`}>
                If the browser cannot reach Fairlead after the sign-in, paste the address that it shows then:
              </label>
              <div class="tools">
                <input
                  id={`pasted-${question.id}`}
                  type="text"
                  autocomplete="off"
                  spellcheck={false}
                  placeholder="http://127.0.0.1:…/?code=…"
                  value={pasted}
                  onInput={(event) => setPasted(event.currentTarget.value)}
                />
                <Button
                  disabledBecause={pasted.trim() === "" ? "paste the address first" : undefined}
                  onPress={() => send({ kind: "sign_in", action: "accept", pasted: pasted.trim() })}
                >
                  Continue with this address
                </Button>
              </div>
            </form>
          )}
        </>
      )}
    </>
  );
}

/** The call during which a server asks, if it is known. */
function duringOf(from: string | undefined, server: string): FactRow | undefined {
  return from === undefined || from === `the server ${server}`
    ? undefined
    : ["during", <Text key="from" of={from} exact />];
}

type FactRow = readonly [label: string, value: VNode];

interface AddressFactsProps {
  readonly url: string;
  readonly target: URL | undefined;
  readonly server: string;
  readonly from: string | undefined;
}

/** The address that the host allows to open. */
function openedAddress({ opens }: AskedAddress): URL | undefined {
  return opens === undefined ? undefined : new URL(opens);
}

/** The host first and large: it says who will get what the person enters there. */
function AddressFacts({ url, target, server, from }: AddressFactsProps): VNode {
  return (
    <>
      <p class="question-host">
        {target === undefined ? "Fairlead does not open this address" : <Text of={target.host} exact />}
      </p>
      <Facts
        rows={[
          ["whole address", <Text key="url" of={url} exact class="mono" />],
          duringOf(from, server),
          target === undefined
            ? ["because", "it opens https addresses, and http addresses of this machine, without a user name"]
            : undefined,
        ]}
      />
    </>
  );
}
