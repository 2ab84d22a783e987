/**
 * Lays out the screen from top to bottom: finished items, running items, the question or panel, the prompt, the status
 * line.
 */

import type { Clock } from "@fairlead/core/clock";
import { safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { Box, Static, Text } from "ink";
import { type ReactElement, useEffect, useInsertionEffect, useMemo, useState, useSyncExternalStore } from "react";
import { spinnerSign } from "../output/reports/progress.ts";
import type { CompletionList } from "./input/completion.ts";
import type { HistorySearch } from "./input/history-search.ts";
import type { Store } from "./session/store.ts";
import { type AppState, questionNumber, type TurnState } from "./state/app-state.ts";
import { dialogRoom } from "./state/dialog.ts";
import { contextWords, hasMoving, serverWords } from "./state/status.ts";
import { dialogLines } from "./view/dialogs/dialog-frame.ts";
import { panelLines } from "./view/dialogs/mcp-panel-frame.ts";
import type { Room } from "./view/frame.ts";
import { clipLine, columns, type Line, span } from "./view/line.ts";
import { Lines } from "./view/lines.tsx";
import { TextInput } from "./view/text-input.tsx";
import { TranscriptItemView } from "./view/transcript-item.tsx";

/** What the app's root component needs. */
export interface AppProps {
  readonly session: { readonly store: Pick<Store, "get" | "subscribe">; readonly clock: Clock };
  /**
   * Called before Ink draws the first frame, and each frame that shows another question. `question` is the key of the
   * question in this frame, if any.
   */
  readonly onCommit: (question: string | undefined) => void;
}

/** Milliseconds between two redraws: `frame` while a spinner turns, `second` while the status line counts seconds. */
const [frame, second] = [120, 1000];

/** The app's root component. Draws the state in `session.store`, and draws it again after every change. */
export function App({ session: { store, clock }, onCommit }: AppProps): ReactElement {
  const state = useSyncExternalStore(store.subscribe, store.get);
  const now = useNow(clock, state.turn.kind === "running" ? frame : hasMoving(state.servers) ? second : undefined);
  const { items, settled, drawnFrom, epoch, questions } = state;
  const shown = questions[0]?.key;
  // Of all React effects, only an insertion effect runs before Ink writes the frame.
  useInsertionEffect(() => onCommit(shown), [shown, onCommit]);
  const asked = useQuestionLines(state);
  const panel = panelRows(state, now);
  const modal = asked.length > 0 ? asked : panel;
  const list = state.search === undefined ? completionRows(state) : [searchLine(state.search, state.size)];
  const room = liveRoom(state, modal.length + list.length + (questions.length > 0 ? 1 : 0));
  const { width } = room;
  return (
    <>
      <Static key={epoch} items={items.slice(drawnFrom, settled)}>
        {(item) => <TranscriptItemView key={item.key} item={item} now={now} width={width} />}
      </Static>
      <Box flexDirection="column" width={width}>
        <Going state={state} room={room} now={now} />
        <Lines lines={modal} />
        {questions.length > 0 && state.focus === "input" && <Text bold>{safe`Tab: answer the question above.`}</Text>}
        <TextInput
          editor={state.editor}
          isActive={questions.length === 0 ? state.panel === undefined : state.focus === "input"}
          isPaused={questions.length > 0 && state.focus === "unseen"}
          width={width}
          height={room.prompt}
        />
        <Lines lines={list} />
        <StatusLine {...state} now={now} width={width} />
      </Box>
    </>
  );
}

interface GoingProps {
  readonly state: AppState;
  readonly room: LiveRoom;
  readonly now: number;
}

function Going({ state: { items, settled, turn, waiting }, room, now }: GoingProps): ReactElement {
  const { width, hidden, item: height } = room;
  return (
    <>
      {hidden > 0 && <Text dimColor>{safe`… ${hidden} more above`}</Text>}
      {items.slice(settled + hidden).map((item) => (
        <TranscriptItemView key={item.key} item={item} now={now} width={width} height={height} />
      ))}
      {turn.kind === "running" && <TurnLine turn={turn} now={now} />}
      <Lines lines={waiting.slice(0, room.waiting).map((text) => nextLine(text, width))} />
    </>
  );
}

function nextLine(text: string, width: number): Line {
  return clipLine([span(safe`queued: ${toSafeLine(text)}`, { isDim: true })], width);
}

/**
 * Returns the lines of the question. Uses `useMemo`, because laying out long arguments for every spinner frame is slow.
 */
function useQuestionLines(state: AppState): readonly Line[] {
  const { questions, dialog, size } = state;
  const [question] = questions;
  const { index, total } = questionNumber(state);
  return useMemo(
    () =>
      question === undefined || dialog === undefined
        ? []
        : dialogLines(question, dialog, { index, total }, dialogRoom(size)),
    [question, dialog, index, total, size],
  );
}

function panelRows({ panel, servers, size }: AppState, now: number): readonly Line[] {
  return panel === undefined ? [] : panelLines({ panel, servers, now }, dialogRoom(size));
}

function searchLine({ query, isFound }: HistorySearch, { columns: width }: AppState["size"]): Line {
  const words = isFound ? safe`search: ` : safe`no match: `;
  const keys = safe`  (Ctrl-R older · Enter send · → edit · Esc leave)`;
  const line = [
    span(words, { isDim: true }),
    span(toVisibleLine(query), { isBold: true }),
    span(keys, { isDim: true }),
  ];
  return clipLine(line, Math.max(20, width));
}

const listRows = 8;

function completionRows({ completion, size }: AppState): readonly Line[] {
  const room = {
    width: Math.max(20, size.columns),
    height: Math.min(listRows, Math.max(2, Math.floor(size.rows / 4))),
  };
  return completion === undefined ? [] : completionLines(completion, room);
}

/** Returns the current time. Redraws the component every `every` milliseconds, or never if `every` is undefined. */
function useNow(clock: Clock, every: number | undefined): number {
  const [now, setNow] = useState(() => clock.now());
  useEffect(() => {
    if (every === undefined) return;
    let callOff = clock.after(0, () => tick(every), { background: true });
    function tick(pause: number): void {
      setNow(clock.now());
      callOff = clock.after(pause, () => tick(pause), { background: true });
    }
    return () => callOff();
  }, [clock, every]);
  return now;
}

/**
 * How many screen rows each part below the finished items gets. If the parts needed more rows than the screen has, the
 * terminal would scroll.
 */
interface LiveRoom {
  readonly width: number;
  /** Maximum number of rows of the prompt. */
  readonly prompt: number;
  /** Maximum number of rows of each unfinished item. */
  readonly item: number;
  /** Number of unfinished items without room on the screen. The oldest ones are not drawn. */
  readonly hidden: number;
  readonly waiting: number;
}

const mostPrompt = 10;
const mostWaiting = 3;
const leastItem = 3;

/** Divides the screen rows. `dialog`: the rows that the question, the panel and the completion list need. */
function liveRoom({ size, turn, items, settled, waiting, editor }: AppState, dialog: number): LiveRoom {
  const width = Math.max(20, size.columns);
  const shownWaiting = Math.min(waiting.length, mostWaiting);
  const prompt = Math.max(1, Math.min(mostPrompt, Math.floor(size.rows / 3)));
  const promptRows = Math.min(
    prompt + 2,
    Math.ceil((editor.text.length + 1) / (width - 2)) + editor.text.split("\n").length,
  );
  const others = 2 + (turn.kind === "running" ? 1 : 0) + shownWaiting + promptRows + dialog;
  const room = Math.max(leastItem, size.rows - others);
  const live = items.length - settled;
  const shown = Math.min(live, Math.max(1, Math.floor(room / leastItem)));
  return {
    width,
    prompt,
    item: Math.floor(room / Math.max(1, shown)),
    hidden: live - shown,
    waiting: shownWaiting,
  };
}

interface StatusLineProps extends Pick<AppState, "servers" | "model" | "usage" | "context" | "isQuitArmed"> {
  readonly now: number;
  readonly width: number;
}

const narrow = 50;
/** Minimum screen width, in columns, at which the status line shows the estimated tokens of the next request. */
const wide = 120;

function StatusLine({ servers, model, usage, context, isQuitArmed, now, width }: StatusLineProps): ReactElement {
  if (isQuitArmed) return <Text>{safe`Ctrl-C once more to quit (or Ctrl-D)`}</Text>;
  const { inputTokens, outputTokens } = usage;
  const tokens = inputTokens + outputTokens === 0 ? safe`` : safe` · ${inputTokens} in ${outputTokens} out`;
  const isShown = width >= wide && context !== undefined && model.provider !== "manual";
  const request = isShown ? safe` · ${contextWords(context)}` : safe``;
  return (
    <Box width={width} justifyContent="space-between">
      <Box flexShrink={1} flexGrow={1}>
        <Text dimColor wrap="truncate-end">
          {toSafeLine(serverWords(servers, now))}
        </Text>
      </Box>
      {width >= narrow && (
        <Box flexShrink={0} marginLeft={2}>
          <Text dimColor>{safe`${toSafeLine(model.name)}${tokens}${request}`}</Text>
        </Box>
      )}
    </Box>
  );
}

type RunningTurn = Extract<TurnState, { readonly kind: "running" }>;

function TurnLine({ turn, now }: { readonly turn: RunningTurn; readonly now: number }): ReactElement {
  const seconds = Math.max(0, Math.floor((now - turn.startedAt) / 1000));
  const what = turn.isCancelling ? safe`stopping` : turn.doing === undefined ? safe`working` : toSafeLine(turn.doing);
  return (
    <Text dimColor wrap="truncate-end">
      {safe`${spinnerSign(now, 120)} ${what}, ${seconds} s (Esc stops it)`}
    </Text>
  );
}

const widestLabel = 40;

/** Returns the screen lines of the completion list. At most `height` lines around the selected suggestion are shown. */
export function completionLines({ suggestions, selected }: CompletionList, { width, height }: Room): readonly Line[] {
  const isCut = suggestions.length > height;
  const rows = isCut ? Math.max(1, height - 1) : height;
  const from = Math.max(0, Math.min(selected - Math.floor(rows / 2), suggestions.length - rows));
  const shown = suggestions.slice(from, from + rows);
  const labels = shown.map(({ value, label = value }) => toVisibleLine(label));
  const room = Math.min(widestLabel, Math.floor(width / 2), Math.max(0, ...labels.map((label) => columns(label))));
  const lines = shown.map(({ about = "" }, at): Line => {
    const isSelected = from + at === selected;
    const label = clipLine([span(labels[at] ?? safe``, { isBold: isSelected })], room);
    const gap = " ".repeat(Math.max(0, room - label.reduce((sum, { text }) => sum + columns(text), 0)));
    const words = about.split("\n", 1)[0] ?? "";
    return clipLine(
      [
        span(isSelected ? safe`› ` : safe`  `, { isBold: true }),
        ...label,
        span(safe`${toSafeLine(gap)}  `),
        span(toSafeLine(words), { isDim: true }),
      ],
      width,
    );
  });
  const more: Line = [span(safe`  ${selected + 1} of ${suggestions.length}`, { isDim: true })];
  return isCut && height > 1 ? [...lines, clipLine(more, width)] : lines;
}
