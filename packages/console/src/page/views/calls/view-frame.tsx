/** A shown view (MCP Apps): its frame, what it asks the person for, and what it has said. */

import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Result } from "../../../protocol/commands.ts";
import { questionTitle } from "../../announce.ts";
import { useApp, useLatest } from "../../app.ts";
import { Button } from "../../components/button.tsx";
import { CopyButton } from "../../components/copy.tsx";
import { AllowButton, Decision, DecisionButton } from "../../components/decision.tsx";
import { Notice } from "../../components/notice.tsx";
import { Text } from "../../components/text.tsx";
import { useRows } from "../../live.ts";
import { QuestionCard } from "../inbox/question-card.tsx";
import { type DisplayMode, ViewBridge, type ViewNote, type ViewQuestion } from "./view-bridge.ts";
import { currentTheme, dimensionsOf, hostContext, onTheme } from "./view-context.ts";

interface ViewFrameProps {
  readonly shown: Result<"views/show">;
  /** The title of the frame, for a screen reader. */
  readonly name: string;
  readonly onEnd: (why: string | undefined) => void;
}

interface AskedQuestion extends ViewQuestion {
  readonly id: number;
  readonly answer: (isYes: boolean) => void;
}

const mostNotes = 100;
const mostStopped = 20;
const firstHeight = 240;
/** Milliseconds after which a view that says nothing is called silent. */
const silentAfter = 10_000;

export function ViewFrame({ shown, name, onEnd }: ViewFrameProps): VNode {
  const { api, store } = useApp();
  const frame = useRef<HTMLIFrameElement>(null);
  const bridge = useRef<ViewBridge>(null);
  const [height, setHeight] = useState(firstHeight);
  const [mode, setMode] = useState<DisplayMode>("inline");
  const [modes, setModes] = useState<readonly DisplayMode[]>();
  const [isSilent, setSilent] = useState(false);
  const [question, setQuestion] = useState<AskedQuestion>();
  const [notes, setNotes] = useState<readonly ViewNote[]>([]);
  const [stopped, setStopped] = useState<readonly string[]>([]);
  const asked = useRef(0);
  const end = useLatest(onEnd);

  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    let open: AskedQuestion | undefined;
    const settle = (isYes: boolean): void => {
      const answered = open;
      open = undefined;
      setQuestion(undefined);
      answered?.answer(isYes);
    };
    const talk = new ViewBridge({
      frame: element,
      shown,
      api,
      store,
      version: store.about.value?.version ?? "",
      context: () => hostContext(element),
      ask: (given) => {
        if (open !== undefined) return Promise.resolve(false);
        asked.current += 1;
        const id = asked.current;
        return new Promise((resolve) => {
          open = { ...given, id, answer: resolve };
          setQuestion({ ...given, id, answer: settle });
        });
      },
      note: (note) =>
        setNotes((before) => {
          // A model would get the latest context only.
          const others = note.kind === "context" ? before.filter(({ kind }) => kind !== "context") : before;
          return [...others, note].slice(-mostNotes);
        }),
      setHeight,
      setMode,
      onReady: (view) => setModes(view.modes),
      onEnd: (why) => {
        if (why === undefined) void talk.tearDown().then(() => end(undefined));
        else {
          talk.end();
          end(why);
        }
      },
    });
    bridge.current = talk;
    const stopTheme = onTheme(() => talk.changeContext({ theme: currentTheme() }));
    const stopViolations = store.onEvent("view_stopped", ({ view, directive, blocked }) => {
      if (view !== shown.view) return;
      const text = stoppedText(directive, blocked);
      setStopped((before) => (before.includes(text) ? before : [...before, text].slice(0, mostStopped)));
    });
    let width = element.clientWidth;
    const observer = new ResizeObserver(() => {
      if (element.clientWidth === width || element.clientWidth === 0) return;
      width = element.clientWidth;
      talk.changeContext({ containerDimensions: dimensionsOf(element) });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      stopTheme();
      stopViolations();
      settle(false);
      talk.end();
    };
  }, []);

  useEffect(() => {
    if (modes !== undefined) return undefined;
    const timer = setTimeout(() => setSilent(true), silentAfter);
    return () => clearTimeout(timer);
  }, [modes]);

  const change = (next: DisplayMode): void => {
    setMode(next);
    bridge.current?.changeMode(next);
  };
  const said = notes.filter(({ kind }) => kind !== "log");
  const log = notes.filter(({ kind }) => kind === "log");
  return (
    <section class={`view-box ${mode === "fullscreen" ? "view-box-full" : ""}`} aria-label={name}>
      <div class="view-bar">
        <span class="view-from">
          <Text of={name} exact />
        </span>
        {mode === "fullscreen" && (
          <Button kind="quiet" onPress={() => change("inline")}>
            Leave the full window
          </Button>
        )}
        {mode === "inline" && modes?.includes("fullscreen") === true && (
          <Button kind="quiet" onPress={() => change("fullscreen")}>
            Full window
          </Button>
        )}
        <Button kind="quiet" icon="close" onPress={async () => bridge.current?.tearDown().then(() => onEnd(undefined))}>
          Close the view
        </Button>
      </div>
      {isSilent && modes === undefined && (
        <Notice kind="warn">
          <span>The view has not started: its page never said that it is ready. See the tab Result.</span>
        </Notice>
      )}
      <iframe
        ref={frame}
        class={`view-frame ${shown.hasBorder ? "view-frame-border" : ""}`}
        title={name}
        sandbox="allow-scripts allow-same-origin allow-forms"
        referrerpolicy="no-referrer"
        style={{ height: mode === "fullscreen" ? undefined : `${height}px` }}
      />
      {question !== undefined && <ViewAsks question={question} />}
      {bridge.current !== null && <RequestQuestions calls={bridge.current.sent} />}
      {stopped.length > 0 && (
        <ul class="view-stopped" aria-label="What the browser has stopped">
          {stopped.map((text) => (
            <li key={text}>
              This view was stopped from <Text of={text} exact />.
            </li>
          ))}
        </ul>
      )}
      {said.length > 0 && (
        <section class="view-said" aria-label="What the view wants a model to get">
          {said.map(({ kind, text }, at) => (
            <div key={at} class="view-note">
              <span class="muted">{kind === "message" ? "message" : "context"}</span>
              <Text of={text} lines exact most={2000} />
              <CopyButton text={text} what={`the ${kind}`} />
            </div>
          ))}
        </section>
      )}
      {log.length > 0 && (
        <details class="view-log">
          <summary>Log of the view ({log.length})</summary>
          <ul>
            {log.map(({ text }, at) => (
              <li key={at}>
                <Text of={text} exact />
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

/** The questions of rules about what the view has sent to its server. */
function RequestQuestions({ calls }: { readonly calls: ReadonlySet<string> }): VNode | null {
  const { store, announcer } = useApp();
  const questions = useRows(store.questions).filter(({ call }) => call !== undefined && calls.has(call));
  if (questions.length === 0) return null;
  return (
    <div class="view-asks">
      {questions.map((question) => (
        <div key={question.id}>
          <h2>{questionTitle(question)}</h2>
          <QuestionCard question={question} outcome={undefined} onAnswered={({ text }) => announcer.say(text)} />
        </div>
      ))}
    </div>
  );
}

function ViewAsks({ question }: { readonly question: AskedQuestion }): VNode {
  const { kind, text, id, answer } = question;
  const title = {
    link: "The view wants to open an address of the web",
    message: "The view wants to send a message as you",
    context: "The view wants to tell a model something",
  }[kind];
  const url = kind === "link" ? new URL(text) : undefined;
  return (
    <article class="view-asks" aria-label={title}>
      <h2>{title}</h2>
      {url !== undefined && (
        <p class="question-host">
          <Text of={url.host} exact />
        </p>
      )}
      <div class="question-value" tabIndex={0} role="group" aria-label="Exact text">
        <Text of={text} lines exact most={4000} class="view-text" />
      </div>
      <Decision subject={String(id)} label="Your answer">
        <DecisionButton onPress={() => answer(false)}>No</DecisionButton>
        <AllowButton
          onPress={() => {
            if (url !== undefined) window.open(url.href, "_blank", "noopener,noreferrer");
            answer(true);
          }}
        >
          {url === undefined ? "Yes, while this view is open" : `Open ${url.host}`}
        </AllowButton>
      </Decision>
    </article>
  );
}

/** Says what the content security policy has stopped, in words. */
function stoppedText(directive: string, blocked: string): string {
  const target = URL.canParse(blocked) ? new URL(blocked).host || blocked : blocked;
  if (blocked === "eval" || blocked === "wasm-eval") return "running code from a text (eval)";
  switch (directive) {
    case "connect-src":
      return `connecting to ${target}`;
    case "frame-src":
      return `opening a page of ${target}`;
    case "form-action":
      return `sending a form to ${target}`;
    case "base-uri":
      return `changing its base address to ${target}`;
    default:
      return `loading from ${target}`;
  }
}
